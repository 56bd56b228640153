# SPDX-License-Identifier: MIT
"""Gains from changes to a whole step: bf16, a larger batch, checkpointing, buckets."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from reports.advice.line import Check, Line, gained, largest, saved_bytes, sized, timed
from reports.advice.run import (
    TRAINING,
    Estimate,
    Products,
    Run,
    names,
    saved_by,
    shape_of,
)
from reports.answers.against import baselines, compared
from reports.answers.measured import Measured, counter_of, time_of, total
from reports.experiments.specs import CHECKPOINT, PRECISION, STRATEGY
from reports.results import text
from reports.results.rows import Row, grouped

_NARROW = {"bf16_autocast": "bf16 autocast", "bf16": "bf16 weights"}
# A step counts as bound by its tokens once fixed costs take at most this share.
_FIXED_SHARE = 0.05
_BUCKETED = ("overlap_bucketed", "overlap_predicted_bucket")


def _products(run: Run, step: Row) -> Estimate | None:
    """Returns the time in products, from their share of the same model's profiled step;
    prefers a profiled step of the same shape."""
    divided = [
        found.row
        for found in run.train_steps
        if shape_of(found.row, "batch", "seq") == shape_of(step, "batch", "seq")
        and found.row.get("matmul_share")
    ]
    if not divided:
        return None
    same = [row for row in divided if shape_of(row) == shape_of(step)]
    row = (same or divided)[-1]
    return Estimate(time_of(step) * row["matmul_share"], (step.name, row.name))


def _faster(run: Run, step: Row, now: Products, then: Products) -> Estimate | None:
    """As saved_by, for the products of a timed step."""
    products = _products(run, step)
    return saved_by(now, then, products) if products else None


def _of_bf16(run: Run, step: Row) -> Estimate | None:
    """Predicts the time saved by products at the rate of bf16."""
    wide, narrow = (run.products_like(step, name) for name in ("fp32", "bf16"))
    return _faster(run, step, wide, narrow)


def _bf16_checks(run: Run, wide: Row, narrow: Row) -> Iterator[Check]:
    if predicted := _of_bf16(run, wide):
        yield timed(wide, narrow, predicted.us)
    yield from sized(wide, narrow)


def _bf16_line(run: Run, pairs: list[tuple[Row, Row]]) -> Line | None:
    found = [
        (step, predicted)
        for step in run.timed_steps()
        if step.words["precision"] == "fp32" and (predicted := _of_bf16(run, step))
    ]
    if not found:
        return None
    step, saved = max(found, key=lambda one: one[1].us.value)
    # Autocast, the smaller change, comes first.
    same = [pair for pair in pairs if shape_of(pair[0]) == shape_of(step)]
    return Line(
        change="bf16",
        base=step,
        saved=saved,
        assumption="products run at the rate of bf16 products of about as many tokens, "
        "all else as before",
        saved_bytes=saved_bytes(*same[0]) if same else None,
        measured=same[0] if same else None,
    )


def _narrowed(run: Run, precision: str) -> list[tuple[Row, Row]]:
    """Returns the train steps in fp32 with those in this precision, slowest last."""
    by_experiment = grouped(run.timed_steps(), lambda row: row.experiment)
    found = [
        pair
        for rows in by_experiment.values()
        for pair in baselines(rows, PRECISION, precision)
    ]
    return sorted(found, key=lambda pair: pair[0].time_us)


def bf16(run: Run) -> Iterator[Line]:
    """Predicts the gain from autocast or bf16 weights by one formula, which both check;
    if the run lacks the rates for it, yields the measured gains."""
    pairs = {name: _narrowed(run, word) for word, name in _NARROW.items()}
    every = [pair for found in pairs.values() for pair in found]
    if line := _bf16_line(run, every):
        checks = (check for pair in every for check in _bf16_checks(run, *pair))
        yield replace(line, checks=tuple(checks))
        return
    for change, found in pairs.items():
        for wide, narrow in found[-1:]:
            yield Line(
                change=change,
                base=wide,
                saved=Estimate(gained(wide, narrow), (wide.name, narrow.name)),
                saved_bytes=saved_bytes(wide, narrow),
                assumption="the time is measured, not predicted: the run has no "
                "product of one shape in both types among its peaks; dry runs found "
                "the memory",
                measured=(wide, narrow),
            )


def _fixed(run: Run, step: Row) -> Estimate:
    """Returns the time of the optimizer and, on a GPU, of the gaps before it."""
    gaps = [
        row
        for divided in run.train_steps
        if shape_of(divided.row) == shape_of(step)
        for row in divided.of("gap")
        if row.words["phase"] != "optimizer"  # its time contains its own gaps
    ]
    parts = [counter_of(step, "optimizer_us"), *(time_of(row) for row in gaps)]
    return Estimate(total(parts), (step.name, *names(gaps)))


def _batched(run: Run, step: Row, factor: float) -> Estimate:
    """Predicts the gain per replaced step from one step of `factor` times the batch."""
    fixed = _fixed(run, step)
    now, then = (run.products_like(step, batches=count) for count in (1, factor))
    saved = fixed.us * (1 - 1 / factor)
    if now == then or not (faster := _faster(run, step, now, then)):
        return Estimate(saved, fixed.rows)
    return Estimate(total([saved, faster.us]), (*fixed.rows, *faster.rows))


def _batch_checks(run: Run, rows: list[Row]) -> Iterator[Check]:
    """Compares each step with its next larger batch, from any experiment. On a GPU only
    a profiled step has known gaps."""
    profiled = {shape_of(step.row) for step in run.train_steps}
    batches: dict[tuple[str, ...], dict[float, Row]] = {}
    for row in rows:
        if row.get("batch"):
            batches.setdefault(shape_of(row, "batch"), {}).setdefault(row["batch"], row)
    for sizes in batches.values():
        for small, large in pairwise(sorted(sizes)):
            factor, base, row = large / small, sizes[small], sizes[large]
            predicted = _batched(run, base, factor).us
            measured = time_of(base) - time_of(row) * (1 / factor)
            if run.is_of_host or shape_of(base) in profiled:
                yield Check(row.name, predicted, measured)


def _batch_line(run: Run, row: Row) -> Line | None:
    fixed_us = _fixed(run, row).us.value
    tokens = row.time_us - fixed_us
    if tokens <= 0:
        return None
    # Solves fixed / (fixed + factor * tokens) = _FIXED_SHARE.
    factor = math.ceil(fixed_us * (1 - _FIXED_SHARE) / (_FIXED_SHARE * tokens))
    if factor < 2:
        return None
    saved = _batched(run, row, factor)
    memory = run.memory_row(row)
    kept = memory.get("predicted_saved_bytes") if memory else None
    batch = int(row.get("batch") or 1)
    rows = (*saved.rows, memory.name) if memory else saved.rows
    peak, fits = row.get("predicted_peak_bytes"), "if it fits"
    if peak and kept is not None and run.memory_bytes:
        if peak + kept * (factor - 1) > run.memory_bytes:
            return None
        fits = "which fits"
    return Line(
        change="larger batch",
        base=row,
        saved=Estimate(saved.us, rows),
        saved_bytes=None if kept is None else -kept * (factor - 1),
        assumption=f"batch {batch * factor} replaces {factor} steps of {batch}, and "
        "each of these saves this time; optimizer and gaps take as long as before, at "
        f"most {text.percent(_FIXED_SHARE)} of the step if its products are no faster; "
        "products reach the rate of about as many tokens; all else grows with the "
        f"batch, {fits} into memory",
    )


def larger_batch(run: Run) -> Iterator[Line]:
    rows = [
        row
        for row in run.timed_steps()
        if row.get("optimizer_us") and "ranks" not in row.counters
    ]
    lines = (_batch_line(run, row) for row in rows)
    yield from largest(lines, _batch_checks(run, rows))


def checkpointing(run: Run) -> Iterator[Line]:
    """Predicts the memory that checkpointing saves and the time that it costs."""

    def cost(step: Row, again: float, flops: float) -> Measured:
        return time_of(step) * (-again / flops)

    pairs = list(baselines(run.of("checkpointing"), CHECKPOINT, "every_1"))
    lines = []
    for row in run.of("memory", mode=TRAINING):
        peak, again = row.get("checkpointed_peak_bytes"), row.get("checkpointed_flops")
        if not peak or not again or not row.get("predicted_peak_bytes"):
            continue
        same = [pair for pair in pairs if shape_of(pair[0]) == shape_of(row)]
        lines.append(
            Line(
                change="checkpointing",
                base=row,
                saved=Estimate(cost(row, again, row.positive("flops")), (row.name,)),
                saved_bytes=row["predicted_peak_bytes"] - peak,
                assumption="a block keeps its input alone and runs forward once more, "
                "at the rate of the whole step; the peak is that of a dry run",
                measured=same[0] if same else None,
            )
        )
    best = max(lines, key=lambda line: line.saved_bytes or 0, default=None)
    if best and best.saved_bytes and best.saved_bytes > 0:
        checks = (
            timed(step, row, cost(step, again, row.positive("flops")))
            for step, row in pairs
            if (again := row.get("recomputed_flops"))
        )
        yield replace(best, checks=tuple(checks))


def bucketed_exchange(run: Run) -> Iterator[Line]:
    """Predicts the gain from exchanging gradients in the buckets of least cost."""
    backend = "gloo" if run.is_of_host else "nccl"
    rows = [row for row in run.of("ddp") if row.get("predicted_exposed_us")]
    lines = []
    for choice in compared(rows, STRATEGY):
        row = choice.base
        others = [
            other
            for other in choice.others.values()
            if other.words.get("strategy") in _BUCKETED
        ]
        if not others:
            continue
        other = min(others, key=lambda row: row["predicted_exposed_us"])
        exposed = [counter_of(end, "predicted_exposed_us") for end in (row, other)]
        predicted = exposed[0] - exposed[1]
        links = (
            link.name
            for link in run.of("all_reduce", backend=backend)
            if link.parameters.get("ranks") == row.parameters.get("ranks")
        )
        lines.append(
            Line(
                change="bucketed exchange",
                base=row,
                saved=Estimate(predicted, (row.name, *links)),
                saved_bytes=saved_bytes(row, other),
                assumption="a call takes the time that the all_reduce rows of as many "
                "ranks give for its bytes",
                checks=(timed(row, other, predicted),),
                measured=(row, other),
            )
        )
    yield from largest(lines)
