# SPDX-License-Identifier: MIT
"""benchmarks/norm_precision.cc: its answer."""

from reports.answers.numerics import norm_precision as answer

__all__ = ["PLACE", "answer"]

PLACE = 170
