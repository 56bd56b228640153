# SPDX-License-Identifier: MIT
"""How benchmarks/transfer.cc is reported."""

from reports.experiments.spec import Extreme, Lines, Spec

SPEC = Spec(
    place=100,
    columns=("bytes_per_second",),
    sentence=(Extreme("bytes_per_second"),),
    plots=(Lines("size", "bytes_per_second"),),
)
