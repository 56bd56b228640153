# SPDX-License-Identifier: MIT
"""benchmarks/ddp.cc: its answer and plots."""

from reports.answers.parallel import ddp as answer
from reports.pages.figures.parallel import ddp as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 120
