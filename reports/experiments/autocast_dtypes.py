# SPDX-License-Identifier: MIT
"""benchmarks/autocast_dtypes.cc: its answer."""

from reports.answers.numerics import autocast_dtypes as answer

__all__ = ["PLACE", "answer"]

PLACE = 160
