# SPDX-License-Identifier: MIT
"""benchmarks/flash_attention.cc: its answer and plots."""

from reports.answers.flash import flash_attention as answer
from reports.pages.figures.attention import flash_attention as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 55
