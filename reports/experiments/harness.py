# SPDX-License-Identifier: MIT
"""How benchmarks/harness.cc is reported."""

from reports.experiments.spec import Axis, Column, Spec, Spread, Values, Versus

SPEC = Spec(
    place=180,
    columns=(Column("p50_us", "time / true", "us", digits=5), "overhead_us"),
    sentence=(
        Values(("p50_us",), {"work": "empty"}),
        Spread(Column("p50_us", "time / true", "us", 5), {"work": "spin"}),
        Versus(Axis("allocator", "system")),
    ),
)
