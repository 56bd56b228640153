# SPDX-License-Identifier: MIT
"""benchmarks/memory.cc: its answer and plots."""

from reports.answers.memory import details as details
from reports.answers.memory import memory as answer
from reports.pages.figures.memory import memory as figures

__all__ = ["PLACE", "answer", "details", "figures"]

PLACE = 30
