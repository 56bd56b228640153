# SPDX-License-Identifier: MIT
"""What flash attention would buy: scores that never reach the memory."""

from collections.abc import Iterator
from dataclasses import replace

from reports.advice.bounds import product_us
from reports.advice.line import Check, Line, largest
from reports.advice.memory import room
from reports.advice.rates import Rate, arithmetic
from reports.advice.run import Run, Step
from reports.answers.against import Axis, baselines
from reports.answers.measured import Measured, exactly, minus, time_of, times, total
from reports.results.rows import Row

_NAIVE = ("scores", "softmax", "value")
_VARIANT = Axis("variant", "naive")
_FLASH = ("sdpa_flash", "sdpa_efficient", "own")
# A backward pass without scores makes them again: five products instead of four.
_RECOMPUTED = 1.25


def _flash_us(row: Row, products: Rate, copy: Rate) -> Measured:
    """By the FLOPs and the bytes of the row alone."""
    again = _RECOMPUTED if row.words.get("phase") == "backward" else 1
    found = [products.time(again * row["flops"]), copy.time(row["bytes"])]
    return max(found, key=lambda time: time.value)


def _checks(run: Run) -> Iterator[Check]:
    rows = run.of("attention_scaling")
    for kernel in _FLASH:
        for naive, flash in baselines(rows, _VARIANT, kernel):
            products = run.attention_products(arithmetic(naive))
            if not products or not run.copy:
                continue
            if flash.get("flops") and flash.get("bytes"):
                new = _flash_us(flash, products, run.copy)
                predicted = minus(time_of(naive), new)
                measured = minus(time_of(naive), time_of(flash))
                yield Check(naive.name, flash.name, predicted, measured)


def _saved_bytes(run: Run, step: Step) -> float | None:
    """What naive attention keeps for its backward pass: exp(scores) in fp32, and the
    weights. As far as it is part of the peak."""
    softmax = step.parts.get(("forward", "softmax"))
    most = room(run, step.whole)
    if softmax is None or softmax.get("pass_bytes") is None or most is None:
        return None
    width = 4 if step.whole.words["precision"] in ("fp32", "tf32") else 2
    scores = softmax["pass_bytes"] / (2 * width)
    return min(most, (4 + width) * scores)


def of_step(run: Run, step: Step) -> Line | None:
    rows = step.of(*_NAIVE)
    if not rows:
        return None
    # What is no product goes, and the first product comes twice.
    beside = [times(time_of(r), 1 - product_us(r) / r.time_us) for r in rows]
    scores = step.parts.get(("forward", "scores"))
    again = exactly(product_us(scores) if scores else 0)
    return Line(
        change="flash attention",
        where=step.name,
        saved_us=minus(total(beside), again),
        of_us=step.whole.time_us,
        assumption="its products alone remain, at the rate that they have, and the "
        "backward pass makes the scores once more",
        rows=tuple(row.name for row in rows),
        saved_bytes=_saved_bytes(run, step),
    )


def flash_attention(run: Run) -> Iterator[Line]:
    lines = [line for step in run.train_steps if (line := of_step(run, step))]
    for line in largest(lines):
        yield replace(line, checks=tuple(_checks(run)))
