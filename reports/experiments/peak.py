# SPDX-License-Identifier: MIT
"""benchmarks/peak.cc: its answer and plots."""

from reports.answers.rates import peak as answer
from reports.pages.figures.rates import peak as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 90
