# SPDX-License-Identifier: MIT
"""How benchmarks/tensor_parallel.cc is reported."""

from reports.experiments.spec import Axis, Bars, Phases, Spec, Versus

RANKS = Axis("ranks", "ranks:1")
SPEC = Spec(
    place=147,
    columns=(
        *("alone_us", "exposed_us", "communication_share", "sent_bytes"),
        *("predicted_sent_bytes", "predicted_peak_bytes"),
    ),
    axis=RANKS,
    sentence=(Versus(RANKS, also=("sent_bytes", "communication_share")),),
    plots=(Phases(), Bars("peak_bytes")),
)
