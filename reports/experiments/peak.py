# SPDX-License-Identifier: MIT
"""How benchmarks/peak.cc is reported."""

from reports.experiments.spec import Bars, Extreme, Spec

SPEC = Spec(
    place=90,
    columns=("flops_per_second", "bytes_per_second", "op_us"),
    sentence=(
        Extreme("flops_per_second"),
        Extreme("bytes_per_second"),
        Extreme("op_us", least=True),
    ),
    plots=(Bars("flops_per_second"), Bars("bytes_per_second")),
)
