# SPDX-License-Identifier: MIT
"""benchmarks/sharded_optimizer.cc: its answer and plots."""

from reports.answers.sharded import sharded_optimizer as answer
from reports.pages.figures.parallel import sharded_optimizer as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 140
