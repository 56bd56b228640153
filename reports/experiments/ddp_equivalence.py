# SPDX-License-Identifier: MIT
"""benchmarks/ddp_equivalence.cc: its answer."""

from reports.answers.equivalence import ddp_equivalence as answer

__all__ = ["PLACE", "answer"]

PLACE = 130
