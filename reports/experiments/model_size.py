# SPDX-License-Identifier: MIT
"""benchmarks/model_size.cc: its answer and plots."""

from reports.answers.models import model_size as answer
from reports.pages.figures.phases import train_steps as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 10
