# SPDX-License-Identifier: MIT
"""benchmarks/all_reduce.cc: its answer and plots."""

from reports.answers.collectives import all_reduce as answer
from reports.pages.figures.collectives import all_reduce as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 110
