# SPDX-License-Identifier: MIT
"""benchmarks/checkpointing.cc: its answer and plots."""

from reports.answers.checkpointing import checkpointing as answer
from reports.pages.figures.checkpointing import checkpointing as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 35
