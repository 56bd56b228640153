# SPDX-License-Identifier: MIT
"""benchmarks/breakdown.cc: what is said of it."""

from reports.experiments.spec import Spec

SPEC = Spec(place=20, plots=())
