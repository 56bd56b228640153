# SPDX-License-Identifier: MIT
"""How benchmarks/sharded_optimizer.cc is reported."""

from reports.experiments.spec import Axis, Bars, Phases, Spec, Versus

SHARDING = Axis("sharding", "replicated")
SPEC = Spec(
    place=140,
    columns=(
        *("optimizer_us", "communication_us", "init_peak_bytes"),
        *("before_step_peak_bytes", "step_peak_bytes", "predicted_peak_bytes"),
        *("sent_bytes", "predicted_sent_bytes", "state_bytes"),
    ),
    axis=SHARDING,
    sentence=(Versus(SHARDING, also=("optimizer_us", "communication_us")),),
    plots=(Phases(), Bars("peak_bytes")),
)
