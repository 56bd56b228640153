# SPDX-License-Identifier: MIT
"""benchmarks/optimizer.cc: its answer and plots."""

from reports.answers.models import optimizer as answer
from reports.pages.figures.models import optimizer as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 70
