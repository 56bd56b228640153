# SPDX-License-Identifier: MIT
"""How benchmarks/accumulation.cc is reported."""

from reports.experiments.spec import Bars, Column, Extreme, Spec, Values

SPEC = Spec(
    place=150,
    columns=(Column("sum", digits=6), "absolute_error", "relative_error"),
    sentence=(Values(("sum",), digits=6), Extreme("absolute_error")),
    plots=(Bars("absolute_error"),),
)
