# SPDX-License-Identifier: MIT
"""benchmarks/precision.cc: its answer and plots."""

from reports.answers.models import precision as answer
from reports.pages.figures.precision import precision as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 40
