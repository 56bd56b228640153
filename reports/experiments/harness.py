# SPDX-License-Identifier: MIT
"""benchmarks/harness.cc: its answer."""

from reports.answers.rates import harness as answer

__all__ = ["PLACE", "answer"]

PLACE = 180
