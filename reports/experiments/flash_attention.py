# SPDX-License-Identifier: MIT
"""How benchmarks/flash_attention.cc is reported."""

from reports.experiments.spec import Axis, Lines, Spec, Versus

SPEC = Spec(
    place=55,
    across="seq",
    cells=("p50_us", "kernel_flops_per_second"),
    sentence=(
        Versus(Axis("variant", "sdpa_flash"), also=("kernel_flops_per_second",)),
    ),
    plots=(Lines("seq", "kernel_flops_per_second", "precision phase heads d_head"),),
)
