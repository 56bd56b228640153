# SPDX-License-Identifier: MIT
"""How benchmarks/warmup.cc is reported."""

from reports.experiments.spec import Bars, Column, Settles, Spec, Spread, Values

SPEC = Spec(
    place=80,
    columns=("mean_us", "stddev_us", "cv", "first_call_us", "steady_ratio"),
    phases="last",
    sentence=(
        Spread(Column("first_ratio", "first call over a steady one")),
        Values(("steady_ratio",)),
        Settles("steady_ratio", along="calls", near=0.05),
    ),
    plots=(Bars("steady_ratio"),),
)
