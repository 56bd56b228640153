# SPDX-License-Identifier: MIT
"""benchmarks/softmax_vs_matmul.cc: its answer."""

from reports.answers.softmax import softmax_vs_matmul as answer

__all__ = ["PLACE", "answer"]

PLACE = 60
