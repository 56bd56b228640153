# SPDX-License-Identifier: MIT
"""benchmarks/softmax_vs_matmul.cc: its answer and plots."""

from reports.answers.softmax import softmax_vs_matmul as answer
from reports.pages.figures.softmax import softmax_vs_matmul as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 60
