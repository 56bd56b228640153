# SPDX-License-Identifier: MIT
"""benchmarks/norm_precision.cc: what is said of it."""

from reports.experiments.spec import Column, Onset, Spec, Spread

SPEC = Spec(
    place=170,
    columns=("relative_error", "overflowed", "overflowed_rows_share"),
    sentence=(
        Onset("overflowed", along="magnitude"),
        Spread(Column("relative_error"), {"internals": "wide"}),
    ),
    plots=(),
)
