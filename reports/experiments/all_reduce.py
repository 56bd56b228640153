# SPDX-License-Identifier: MIT
"""benchmarks/all_reduce.cc: what is said of it."""

from reports.experiments.spec import Spec

SPEC = Spec(
    place=110,
    columns=(
        *("algbw_bytes_per_second", "busbw_bytes_per_second", "rank_spread"),
        "threads_per_rank",
    ),
    plots=(),
)
