# SPDX-License-Identifier: MIT
"""How benchmarks/softmax_vs_matmul.cc is reported."""

from reports.experiments.spec import Axis, Bars, Spec, Versus

PART = Axis("part", "qk")
SPEC = Spec(
    place=60,
    columns=("flop_ratio", "byte_ratio", "flops_per_second", "bytes_per_second"),
    axis=PART,
    sentence=(Versus(PART, also=("flop_ratio", "byte_ratio")),),
    plots=(Bars(versus=PART),),
)
