# SPDX-License-Identifier: MIT
"""What flash attention would buy: scores that never reach the memory."""

from collections.abc import Iterator

from reports.advice.bounds import product_us
from reports.advice.line import Check, Line, largest
from reports.advice.memory import room
from reports.advice.rates import Rate, arithmetic
from reports.advice.run import Run, Step
from reports.answers.measured import Measured, exactly, minus, time_of, times, total
from reports.results.rows import Row

_NAIVE = ("scores", "softmax", "value")
_FLASH = ("sdpa_flash", "sdpa_efficient")  # the latter for fp32 on a GPU
# A backward pass without scores makes them again: five products instead of four.
_RECOMPUTED = 1.25


def _flash_us(row: Row, products: Rate, copy: Rate) -> Measured:
    """By the FLOPs and the bytes of the row alone."""
    again = _RECOMPUTED if row.words.get("phase") == "backward" else 1
    found = [products.time(again * row["flops"]), copy.time(row["bytes"])]
    return max(found, key=lambda time: time.value)


def _checks(run: Run) -> Iterator[Check]:
    rows = {row.name: row for row in run.of("attention_scaling")}
    for naive in run.of("attention_scaling", variant="naive"):
        names = [naive.name.replace("/naive/", f"/{variant}/") for variant in _FLASH]
        flash = next((rows[name] for name in names if name in rows), None)
        products = run.attention_products(arithmetic(naive))
        if not flash or not products or not run.copy:
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


def flash_attention(run: Run) -> Iterator[Line]:
    checks = tuple(_checks(run))
    lines = []
    for step in run.train_steps:
        rows = step.of(*_NAIVE)
        if not rows:
            continue
        # What is no product goes, and the first product comes twice.
        beside = [times(time_of(r), 1 - product_us(r) / r.time_us) for r in rows]
        scores = step.parts.get(("forward", "scores"))
        again = exactly(product_us(scores) if scores else 0)
        lines.append(
            Line(
                change="flash attention",
                where=step.name,
                saved_us=minus(total(beside), again),
                of_us=step.whole.time_us,
                assumption="its products alone remain, at the rate that they have, and "
                "the backward pass makes the scores once more",
                rows=tuple(row.name for row in rows),
                saved_bytes=_saved_bytes(run, step),
                checks=checks,
            )
        )
    yield from largest(lines)
