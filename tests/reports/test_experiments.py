# SPDX-License-Identifier: MIT
"""The specs of reports/experiments."""

from reports.experiments.specs import SPECS
from results import ROOT


def test_every_spec_is_of_an_experiment() -> None:
    assert set(SPECS) <= {path.stem for path in (ROOT / "benchmarks").glob("*.cc")}
