# SPDX-License-Identifier: MIT
"""benchmarks/fused_ops.cc: its answer and plots."""

from reports.answers.operations import fused_ops as answer
from reports.pages.figures.operations import fused_ops as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 65
