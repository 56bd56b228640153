# SPDX-License-Identifier: MIT
"""How benchmarks/implementations.cc is reported."""

from reports.experiments.spec import Axis, Bars, Spec, Versus

IMPLEMENTATION = Axis("implementation", "textbook")
SPEC = Spec(
    place=45,
    columns=("peak_ratio", "mfu_measured"),
    axis=IMPLEMENTATION,
    phases="last",
    sentence=(Versus(IMPLEMENTATION),),
    plots=(Bars(versus=IMPLEMENTATION), Bars("peak_bytes", IMPLEMENTATION)),
)
