# SPDX-License-Identifier: MIT
"""How benchmarks/attention_scaling.cc is reported."""

from reports.experiments.spec import Growth, Lines, Spec

_SPLIT = "precision phase batch d_head"
SPEC = Spec(
    place=50,
    across="seq",
    cells=("p50_us", "saved_bytes", "peak_bytes"),
    sentence=(Growth("seq", ("p50_us", "saved_bytes"), {"phase": "forward"}),),
    plots=(Lines("seq", split=_SPLIT), Lines("seq", "saved_bytes", _SPLIT)),
)
