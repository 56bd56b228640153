# SPDX-License-Identifier: MIT
"""Plots of operations that memory bounds."""

from collections.abc import Iterator

from reports.answers.implementations import IMPLEMENTATION
from reports.answers.measured import counter_of
from reports.answers.operations import one_shape
from reports.pages.figures.implementations import IMPLEMENTATIONS
from reports.pages.plotting.figure import Figure
from reports.pages.plotting.grouped import Bar, grouped
from reports.results import text
from reports.results.rows import Result, Row

_PASSES = {"both": "both passes"}


def _figures(shape: str, rows: list[Row]) -> Iterator[Figure]:
    for one in dict.fromkeys(row.words["pass"] for row in rows):
        alike = [row for row in rows if row.words["pass"] == one]
        ops = list(dict.fromkeys(row.words["op"] for row in alike))
        alike.sort(key=lambda row: ops.index(row.words["op"]))
        name = _PASSES.get(one, f"the {one} pass")
        yield from grouped(
            [
                Bar(
                    row.words["op"],
                    row.words[IMPLEMENTATION.word],
                    counter_of(row, "bandwidth_share"),
                )
                for row in alike
                if row.get("bandwidth_share")
            ],
            IMPLEMENTATIONS,
            f"Share of the memory rate of {name}, {shape}",
            "The least bytes of each operation over its time, as a share of the best "
            "rate measured on this device, with its 95 % interval.",
            one="best measured",
            formatted=text.percent,
        )


def fused_ops(result: Result) -> list[Figure]:
    return [
        figure
        for group in one_shape(result.of("fused_ops")).items()
        for figure in _figures(*group)
    ]
