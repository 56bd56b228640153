# SPDX-License-Identifier: MIT
"""benchmarks/fsdp.cc: its answer and plots."""

from reports.answers.fsdp import fsdp as answer
from reports.pages.figures.fsdp import fsdp as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 145
