# SPDX-License-Identifier: MIT
"""How benchmarks/norm_precision.cc is reported."""

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
