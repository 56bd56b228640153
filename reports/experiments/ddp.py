# SPDX-License-Identifier: MIT
"""How benchmarks/ddp.cc is reported."""

from reports.experiments.spec import Axis, Column, Extreme, Phases, Spec, Spread, Values

STRATEGY = Axis("strategy bucket_mb", "per_parameter")
SPEC = Spec(
    place=120,
    columns=(
        *("predicted_us", "exposed_us", "collectives_us", "overlap_share"),
        *("communication_calls", "scaling_efficiency", "bucket_bytes"),
        Column("communication_us", per="p50_us"),
    ),
    axis=STRATEGY,
    phases="last",
    sentence=(
        Extreme(
            "p50_us",
            least=True,
            among=STRATEGY.word,
            also=("exposed_us", "overlap_share", "optimal_bucket_mb"),
            needs="exposed_us",
        ),
        Values(("p50_us",), {"strategy": "side_by_side"}),
        Spread(Column("scaling_efficiency")),
        Spread(Column("p50_us", per="predicted_us")),
    ),
    plots=(Phases(),),
)
