# SPDX-License-Identifier: MIT
"""benchmarks/tensor_parallel.cc: its answer and plots."""

from reports.answers.tensor_parallel import tensor_parallel as answer
from reports.pages.figures.parallel import tensor_parallel as figures

__all__ = ["PLACE", "answer", "figures"]

PLACE = 145
