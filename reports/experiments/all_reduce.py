# SPDX-License-Identifier: MIT
"""How benchmarks/all_reduce.cc is reported."""

from reports.experiments.spec import Spec

SPEC = Spec(
    place=110,
    columns=(
        *("algbw_bytes_per_second", "busbw_bytes_per_second", "rank_spread"),
        "threads_per_rank",
    ),
    plots=(),
)
