# SPDX-License-Identifier: MIT
"""How benchmarks/fsdp.cc is reported."""

from reports.experiments.spec import Axis, Bars, Extreme, Phases, Spec, Versus

SHARDED = Axis("sharded reshard prefetch", "optimizer reshard:0 prefetch:0")
SPEC = Spec(
    place=145,
    columns=(
        *("exposed_us", "overlap_share", "sent_bytes", "predicted_sent_bytes"),
        *("state_bytes", "predicted_peak_bytes"),
    ),
    axis=SHARDED,
    sentence=(Versus(SHARDED), Extreme("peak_bytes", True, SHARDED.word)),
    plots=(Phases(), Bars("peak_bytes")),
)
