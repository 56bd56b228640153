# SPDX-License-Identifier: MIT
"""benchmarks/breakdown.cc: its answer and plots."""

from reports.answers.breakdown import breakdown as answer
from reports.answers.profiled import details as details
from reports.pages.figures.breakdown import breakdown as figures

__all__ = ["PLACE", "answer", "details", "figures"]

PLACE = 20
