# SPDX-License-Identifier: MIT
"""What other arithmetic would buy: bf16."""

from collections.abc import Iterator
from dataclasses import replace

from reports.advice.line import Check, Line
from reports.advice.run import TRAINING, Run, shape_of
from reports.answers.measured import Measured, exactly, minus, over, time_of, times
from reports.answers.shapes import step_text
from reports.results.rows import Row

_NARROW = {"bf16_autocast": "bf16 autocast", "bf16": "bf16 weights"}


def _products(run: Run, step: Row) -> tuple[Measured, str] | None:
    """Their time in a step, by their share of the same model's profiled step: of the
    same shape, if the run has it."""
    divided = [
        found.whole
        for found in run.train_steps
        if shape_of(found.whole, "batch", "seq") == shape_of(step, "batch", "seq")
        and found.whole.get("matmul_share")
    ]
    if not divided:
        return None
    same = [row for row in divided if shape_of(row) == shape_of(step)]
    row = (same or divided)[-1]
    return times(time_of(step), row["matmul_share"]), row.name


def _predicted(run: Run, step: Row) -> tuple[Measured, tuple[str, ...]] | None:
    """What products at the rate of bf16 save."""
    wide, narrow = run.products("fp32"), run.products("bf16")
    products = _products(run, step)
    if not wide or not narrow or not products:
        return None
    new = over(products[0], over(narrow.per_second, wide.per_second))
    return minus(products[0], new), (step.name, products[1], wide.row, narrow.row)


def saved_bytes(wide: Row, narrow: Row, counter: str) -> float | None:
    if wide.get(counter) is None or narrow.get(counter) is None:
        return None
    return wide[counter] - narrow[counter]


def _checks(run: Run, wide: Row, narrow: Row) -> Iterator[Check]:
    predicted = _predicted(run, wide)
    if predicted:
        gained = minus(time_of(wide), time_of(narrow))
        yield Check(wide.name, narrow.name, predicted[0], gained)
    dry = saved_bytes(wide, narrow, "predicted_peak_bytes")
    peak = saved_bytes(wide, narrow, "peak_bytes")
    if dry and peak is not None:
        gains = exactly(dry), exactly(peak)
        yield Check(wide.name, narrow.name, *gains, in_bytes=True)


def _pairs(run: Run, precision: str) -> list[tuple[Row, Row]]:
    """The train steps in fp32 and in another precision, the largest last."""
    narrow = {
        shape_of(row, "precision"): row
        for row in run.of("precision", precision=precision, mode=TRAINING)
    }
    wide = run.of("precision", precision="fp32", mode=TRAINING)
    pairs = [
        (row, narrow[shape_of(row, "precision")])
        for row in wide
        if shape_of(row, "precision") in narrow
    ]
    return sorted(pairs, key=lambda pair: pair[0].time_us)


def _measured_alone(change: str, pairs: list[tuple[Row, Row]]) -> Line:
    """Of a device whose rate in bf16 the run does not tell."""
    wide, narrow = pairs[-1]
    return Line(
        change=change,
        where=step_text(wide),
        saved_us=minus(time_of(wide), time_of(narrow)),
        of_us=wide.time_us,
        saved_bytes=saved_bytes(wide, narrow, "predicted_peak_bytes"),
        assumption="the time is measured, not predicted: the run has no product in "
        "bf16 among its peaks; the memory is that of dry runs",
        rows=(wide.name, narrow.name),
    )


def _predicted_line(run: Run, pairs: list[tuple[Row, Row]]) -> Line | None:
    found = [
        (step, predicted)
        for step in run.timed_steps()
        if step.words["precision"] == "fp32" and (predicted := _predicted(run, step))
    ]
    if not found:
        return None
    step, (saved, rows) = max(found, key=lambda one: one[1][0].value)
    # Autocast, the smaller change, comes first.
    narrow = next((other for wide, other in pairs if wide.name == step.name), None)
    return Line(
        change="bf16",
        where=step_text(step),
        saved_us=saved,
        of_us=step.time_us,
        assumption="products run at the rate of bf16, all else as before",
        rows=rows,
        saved_bytes=saved_bytes(step, narrow, "predicted_peak_bytes")
        if narrow
        else None,
    )


def bf16(run: Run) -> Iterator[Line]:
    """One formula for autocast and for weights in bf16, which both check it; without
    the rates that it takes, what each of them was measured to save."""
    pairs = {name: _pairs(run, precision) for precision, name in _NARROW.items()}
    line = _predicted_line(run, [pair for found in pairs.values() for pair in found])
    if line is None:
        for change, found in pairs.items():
            if found:
                yield _measured_alone(change, found)
        return
    checks = (
        check
        for found in pairs.values()
        for pair in found
        for check in _checks(run, *pair)
    )
    yield replace(line, checks=tuple(checks))
