# SPDX-License-Identifier: MIT
"""How benchmarks/breakdown.cc is reported."""

from reports.experiments.spec import Spec

SPEC = Spec(place=20, plots=())
