# SPDX-License-Identifier: MIT
"""What the peak of a step consists of."""

from collections import defaultdict
from collections.abc import Sequence

from matplotlib.axes import Axes

from reports.pages.figures.timelines import timelines
from reports.pages.plotting.bars import Bar, Look, Scale, below, inches, stacked
from reports.pages.plotting.figure import COLOURS, Figure, draw
from reports.results import text
from reports.results.rows import Result, Row

__all__ = ["memory", "timelines"]

LOOKS = {
    "parameters": Look(COLOURS[0]),
    "optimizer state": Look(COLOURS[1]),
    "gradients": Look(COLOURS[3]),
    "saved for backward": Look(COLOURS[2]),
    "saved and gradients": Look(COLOURS[2], "////"),
    "temporary": Look("#bbbbbb"),
}
# Moments at which all is saved and no gradient is made yet, by their beginnings;
# and the one at which it is the other way round.
ALL_SAVED = ("attention", "feed forward", "logits", "loss", "head backward")
ALL_MADE = "end of backward"


def _parts(row: Row) -> dict[str, float]:
    """What adds up to the predicted peak, which not everything lives to see."""
    parts = {
        "parameters": row["predicted_parameter_bytes"],
        "optimizer state": row["predicted_optimizer_bytes"],
    }
    rest = row["predicted_peak_bytes"] - sum(parts.values())
    moment = row.findings.get("peak_at", "")
    if moment == ALL_MADE:
        parts["gradients"] = min(row["predicted_gradient_bytes"], rest)
    elif not row["predicted_gradient_bytes"] or moment.startswith(ALL_SAVED):
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
        measured,
        row.words["precision"],
    )


def _models(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """By model; of each the precisions one after the other."""
    models: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        models[row.words["model"]][row.words["precision"]].append(row)
    return {
        model: [row for rows in precisions.values() for row in rows]
        for model, precisions in models.items()
    }


def memory(result: Result) -> list[Figure]:
    """Of each model the steps: the predicted peak in parts, and the measured one."""
    figures = []
    for model, rows in _models(result.of("memory")).items():
        bars = [_bar(row) for row in rows]

        def paint(axes: Axes, bars: list[Bar] = bars) -> None:
            scale = Scale(text.size, binary=True, mark_name="measured peak")
            stacked(axes, bars, LOOKS, scale)
            axes.set_xlabel("predicted peak; to the right: measured, difference")
            below(axes, 4, list(LOOKS))

        worst = max(abs(row["prediction_error"]) for row in rows)
        description = (
            f"{len(rows)} step{'' if len(rows) == 1 else 's'} of {model}: the predicted "
            f"peaks are within {max(worst * 100, 0.01):.2f} % of the measured ones."
        )
        size = (7.2, inches(bars, 6, 4) + 0.2)
        figures.append(draw(f"Peak memory: {model}", description, paint, size))
    return figures
