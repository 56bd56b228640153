# SPDX-License-Identifier: MIT
"""How many warm-up calls a measurement needs."""

from reports.answers.measured import CANNOT_TELL, Measured, counter_of
from reports.answers.shapes import by_shape, step_text
from reports.results import text
from reports.results.rows import Result, Row

NEAR = (0.95, 1.05)  # a mean of so many times the steady state needs no more calls


def _verdict(ratios: dict[int, Measured]) -> str:
    """How many calls are enough: so many, and all that is longer, are near."""
    needed = [calls for calls, ratio in ratios.items() if ratio.outside(*NEAR)]
    unclear = [
        calls
        for calls, ratio in ratios.items()
        if calls > max(needed, default=-1) and not ratio.within(*NEAR)
    ]
    if not unclear:
        enough = [calls for calls in ratios if calls > max(needed, default=-1)]
        if not enough:
            return f"{text.plural(max(ratios), 'call')} are too few for 5 %"
        return f"from {text.plural(min(enough), 'call')} on it stays within 5 %"
    worst = max(unclear, key=lambda calls: ratios[calls].half_width)
    return (
        f"how many calls are enough {CANNOT_TELL}, because after "
        f"{text.plural(worst, 'call')} it is {ratios[worst].text()} times: "
        f"{ratios[worst].runs_to_tell(*NEAR)}"
    )


def _first_calls(rows: list[Row]) -> str:
    """Each row is a process of its own, so each has a first call."""
    ratios = sorted(row["first_ratio"] for row in rows)
    ends = [text.significant(ratio) for ratio in (ratios[0], ratios[-1])]
    if len(rows) == 1 or ends[0] == ends[1]:
        return f"takes {ends[0]} times a steady one"
    return f"takes {ends[0]} to {ends[1]} times a steady one ({len(rows)} processes)"


def warmup(result: Result) -> tuple[str, text.Table] | None:
    steps = by_shape(result.of("warmup"), "model", "precision", "mode")
    if not steps:
        return None
    # The paper suite measures several steps; the first one is summarized.
    measured = next(iter(steps.values()))
    rows = {int(row["calls"]): row for row in measured}
    if 0 not in rows or len(rows) < 2:
        return None
    ratios = {
        calls: counter_of(row, "steady_ratio") for calls, row in sorted(rows.items())
    }
    sentence = (
        f"The first call of `{step_text(rows[0])}` {_first_calls(measured)}; without "
        f"warm-up the mean of ten is {ratios[0].text()} times the steady state, after "
        f"{text.plural(max(rows), 'call')} {ratios[max(rows)].text()} times; "
        f"{_verdict(ratios)}."
    )
    lines = [
        [
            f"{step_text(row)}, {int(row['calls'])}",
            text.time(row["mean_us"]),
            text.time(row["stddev_us"]),
            text.percent(row["cv"]),
            text.time(row["first_call_us"]),
            counter_of(row, "steady_ratio").text(),
        ]
        for step in steps.values()
        for row in sorted(step, key=lambda row: row["calls"])
    ]
    headings = [
        "step, warm-up calls",
        "mean of 10",
        "sd",
        "cv",
        "first call",
        "mean / steady",
    ]
    return sentence, text.Table(headings, lines)
