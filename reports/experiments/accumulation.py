# SPDX-License-Identifier: MIT
"""benchmarks/accumulation.cc: its answer."""

from reports.answers.numerics import accumulation as answer

__all__ = ["PLACE", "answer"]

PLACE = 150
