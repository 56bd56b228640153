# SPDX-License-Identifier: MIT
"""benchmarks/implementations.cc: its answer and plots."""

from reports.answers.implementations import implementations as answer
from reports.pages.figures.implementations import implementations as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 45
