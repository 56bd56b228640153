# SPDX-License-Identifier: MIT
"""How benchmarks/compiled.cc is reported."""

from reports.experiments.spec import Axis, Bars, Column, Spec, Spread, Versus

RUNTIME = Axis("runtime", "eager")
SPEC = Spec(
    place=47,
    columns=("peak_ratio", "textbook_error", "compile_seconds"),
    axis=RUNTIME,
    sentence=(Versus(RUNTIME), Spread(Column("textbook_error"))),
    plots=(Bars(versus=RUNTIME),),
)
