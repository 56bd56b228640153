# SPDX-License-Identifier: MIT
"""How benchmarks/model_size.cc is reported."""

from reports.experiments.spec import Column, Extreme, Phases, Spec, Spread

SPEC = Spec(
    place=10,
    columns=("flops_per_second", "mfu_measured"),
    phases="first",
    sentence=(
        Spread(Column("p50_us", "time of a train step"), {"mode": "train_step"}),
        Extreme("mfu_measured"),
        Spread(Column("backward_us", per="forward_us"), {"mode": "train_step"}),
        Spread(Column("optimizer_us", per="p50_us"), {"mode": "train_step"}),
    ),
    plots=(Phases({"mode": "train_step"}),),
)
