# SPDX-License-Identifier: MIT
"""How benchmarks/precision.cc is reported."""

from reports.experiments.spec import Axis, Bars, Spec, Versus

PRECISION = Axis("precision", "fp32")
SPEC = Spec(
    place=40,
    columns=("peak_ratio", "logits_error", "gradient_error", "mfu_measured"),
    axis=PRECISION,
    phases="last",
    sentence=(Versus(PRECISION, also=("logits_error",)),),
    plots=(Bars(versus=PRECISION), Bars("peak_bytes", PRECISION)),
)
