# SPDX-License-Identifier: MIT
"""How benchmarks/optimizer.cc is reported."""

from reports.experiments.spec import Axis, Bars, Spec, Versus

KIND = Axis("kind", "textbook")
SPEC = Spec(
    place=70,
    columns=("bytes", "bytes_per_second", "bandwidth_share", "ops_per_step"),
    axis=KIND,
    sentence=(Versus(KIND, also=("bytes_per_second", "bandwidth_share")),),
    plots=(Bars(versus=KIND),),
)
