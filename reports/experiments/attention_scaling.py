# SPDX-License-Identifier: MIT
"""benchmarks/attention_scaling.cc: its answer and plots."""

from reports.answers.attention import attention_scaling as answer
from reports.pages.figures.attention import attention_scaling as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 50
