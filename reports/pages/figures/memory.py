# SPDX-License-Identifier: MIT
"""Plots of the peak memory of a step by kind of data."""

import re

from reports.pages.plotting.bars import Bar, Look, draw_bars
from reports.pages.plotting.canvas import COLORS, Figure
from reports.results import text
from reports.results.rows import Result, Row, grouped

LOOK = Look(
    text.size,
    binary=True,
    label="predicted peak; dot: measured; right: measured, difference",
    colors={
        "parameters": COLORS[0],
        "optimizer state": COLORS[1],
        "gradients": COLORS[3],
        "saved for backward": COLORS[2],
        "saved and gradients": COLORS[5],
        "temporary": "#bbbbbb",
    },
)
# The moments with all tensors saved and no gradients yet, and the moments with all
# gradients and no saved tensors.
ALL_SAVED = re.compile(r".* in (forward|loss|backward, (cross_entropy|lm_head))\b")
ALL_MADE = re.compile(r".* in (optimizer|backward, embedding)\b")


def _parts(row: Row) -> dict[str, float]:
    """Splits the predicted peak into the parts that are alive at its moment."""
    parts = {
        "parameters": row["predicted_parameter_bytes"],
        "optimizer state": row["predicted_optimizer_bytes"],
    }
    rest = row["predicted_peak_bytes"] - sum(parts.values())
    moment = row.findings["predicted_peak_at"]
    if ALL_MADE.match(moment):
        parts["gradients"] = min(row["predicted_gradient_bytes"], rest)
    elif not row["predicted_gradient_bytes"] or ALL_SAVED.match(moment):
        parts["saved for backward"] = min(row["predicted_saved_bytes"], rest)
    else:
        both = row["predicted_saved_bytes"] + row["predicted_gradient_bytes"]
        parts["saved and gradients"] = min(both, rest)
    parts["temporary"] = row["predicted_peak_bytes"] - sum(parts.values())
    return {part: size for part, size in parts.items() if size > 0}


def _bar(row: Row) -> Bar:
    measured = row["own_peak_bytes"]
    difference = f"{row['prediction_error'] * 100:+.2f} %"
    if float(difference.removesuffix(" %")) == 0:
        difference = "exact" if row["prediction_error"] == 0 else "±0.00 %"
    return Bar(
        f"{row.words['mode']} {int(row['batch'])} x {int(row['seq'])}",
        _parts(row),
        f"{text.size(measured)}, {difference}",
        row.words["precision"],
        mark=measured,
    )


def memory(result: Result) -> list[Figure]:
    """Draws a figure per model: predicted peaks in parts, and measured peaks."""
    figures = []
    models = grouped(result.of("memory"), lambda row: row.words["model"])
    for model, rows in models.items():
        precisions = grouped(rows, lambda row: row.words["precision"])
        bars = [_bar(row) for alike in precisions.values() for row in alike]
        worst = max(abs(row["prediction_error"]) for row in rows)
        description = (
            f"{text.plural(len(rows), 'step')} of {model}: the predicted peaks are "
            f"within {max(worst * 100, 0.01):.2f} % of the measured ones."
        )
        figures.append(draw_bars(f"Peak memory: {model}", description, bars, LOOK))
    return figures
