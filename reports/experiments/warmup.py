# SPDX-License-Identifier: MIT
"""benchmarks/warmup.cc: its answer and plots."""

from reports.answers.warmup import warmup as answer
from reports.pages.figures.warmup import warmup as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 80
