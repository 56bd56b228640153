# SPDX-License-Identifier: MIT
"""How benchmarks/ddp_equivalence.cc is reported."""

from reports.experiments.spec import Column, Spec, Spread

SPEC = Spec(
    place=130,
    columns=("*_max_difference", "*_mean_difference", "loss_difference", "losses*"),
    sentence=(
        Spread(Column("max_difference")),
        Spread(Column("mean_difference")),
        Spread(Column("loss_difference")),
    ),
)
