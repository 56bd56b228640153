# SPDX-License-Identifier: MIT
"""benchmarks/transfer.cc: its answer and plots."""

from reports.answers.rates import transfer as answer
from reports.pages.figures.rates import transfer as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 100
