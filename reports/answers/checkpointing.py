# SPDX-License-Identifier: MIT
"""What a step gains in memory by computing part of it twice, and what that costs."""

from collections.abc import Callable

from reports.answers.against import Axis, Choice, Column, choices, compared, table, told
from reports.answers.cells import optional
from reports.answers.comparing import factor
from reports.results import text
from reports.results.rows import Result, Row

CHECKPOINT = Axis("checkpoint", "none")
# What fits the device: the counter and its words.
_FITTING = (
    ("largest_batch", "batch", "sequences"),
    ("largest_seq", "context", "tokens"),
)


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _growth(choice: Choice, row: Row, counter: str) -> float | None:
    """Of what fits, over what fits without checkpointing."""
    own, base = row.get(counter), choice.base.get(counter) if choice.base else None
    return own / base if own and base else None


def _gain(choice: Choice, counter: str, name: str, unit: str) -> str | None:
    """Who makes most room for it, and at which price."""
    grown = {
        key: value
        for key, row in choice.others.items()
        if (value := _growth(choice, row, counter))
    }
    best = max(grown, key=lambda key: grown[key], default=None)
    if best is None or grown[best] <= 1 or choice.base is None:
        return None
    row = choice.others[best]
    time = choice.time(row)
    assert time is not None
    price = factor(time, f"{choice.axis.base}'s time")
    return (
        f"the {name} that fits grows most with {best}, "
        f"{text.significant(grown[best])} times, from "
        f"{_count(choice.base[counter])} to {_count(row[counter])} {unit}, and the "
        f"step takes {price}"
    )


def _told(choice: Choice) -> str:
    gains = [gain for fits in _FITTING if (gain := _gain(choice, *fits))]
    what = "; ".join(gains) or "no choice makes room for a larger batch or context"
    return f"In `{choice.label}` {what}."


def _grown(counter: str) -> Callable[[Choice, Row], str]:
    def cell(choice: Choice, row: Row) -> str:
        fits, growth = row.get(counter), _growth(choice, row, counter)
        if fits is None:
            return "-"
        if growth is None or row is choice.base:
            return _count(fits)
        return f"{_count(fits)} ({text.significant(growth)}x)"

    return cell


def _again(_: Choice, row: Row) -> str:
    flops = row.get("flops")
    again = row.get("recomputed_flops") or 0.0
    return text.percent(again / flops) if flops else "-"


def _utilization(hardware: bool) -> Callable[[Choice, Row], str]:
    def cell(_: Choice, row: Row) -> str:
        # Where nothing is recomputed the hardware does what the model needs.
        has_own = hardware and row.get("hfu_measured") is not None
        return optional(
            row, "hfu_measured" if has_own else "mfu_measured", text.percent
        )

    return cell


def _predicted(_: Choice, row: Row) -> str:
    peak, predicted = row.get("peak_bytes"), row.get("predicted_peak_bytes")
    if not peak or not predicted:
        return "-"
    return f"{100 * (peak / predicted - 1):+.2f} %"


_COLUMNS: tuple[Column, ...] = (
    ("peak against prediction", _predicted),
    ("FLOPs again", _again),
    ("MFU", _utilization(hardware=False)),
    ("HFU", _utilization(hardware=True)),
    ("largest batch", _grown("largest_batch")),
    ("longest context", _grown("largest_seq")),
)


def checkpointing(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("checkpointing")
    found = compared(rows, CHECKPOINT)
    if not found:
        return None
    sentence = " ".join(_told(choice) for choice in told(found))
    return sentence, table(choices(rows, CHECKPOINT), *_COLUMNS)
