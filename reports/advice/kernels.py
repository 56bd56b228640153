# SPDX-License-Identifier: MIT
"""Changes of kernels: one pass over memory where there are several, and no gaps."""

from collections.abc import Iterator
from dataclasses import replace

from reports.advice.bounds import product_us
from reports.advice.line import Check, Line, largest
from reports.advice.rates import Rate
from reports.advice.run import Run, Step
from reports.answers.measured import Measured, minus, time_of, times, total
from reports.results.rows import Row

# By what is fused: the components whose work beside products becomes one pass.
FUSED = {
    "norm": ("norm",),
    "softmax": ("scores", "softmax"),
    "SwiGLU": ("ffn",),
    "cross entropy": ("cross_entropy",),
    "RoPE": ("rope",),
}
_ONE_PASS = "one pass over memory, at the rate of a copy"


def _saved(row: Row, copy: Rate) -> Measured:
    """If all but the row's products is one pass."""
    beside = times(time_of(row), 1 - product_us(row) / row.time_us)
    return minus(beside, copy.time(row["pass_bytes"]))


def _of_step(step: Step, what: str, copy: Rate) -> Line | None:
    rows = step.of(*FUSED[what])
    if not rows or any(row.get("pass_bytes") is None for row in rows):
        return None
    return Line(
        change=f"fused {what}",
        where=step.name,
        saved_us=total([_saved(row, copy) for row in rows]),
        of_us=step.whole.time_us,
        assumption=f"all but its products is {_ONE_PASS}",
        rows=(*(row.name for row in rows), copy.row),
    )


def _softmax_alone(run: Run, copy: Rate) -> list[Line]:
    """Of each softmax that was timed alone, with the fused one beside it."""
    lines = []
    rows = {row.name: row for row in run.of("softmax_vs_matmul")}
    for naive in run.of("softmax_vs_matmul", part="softmax_naive"):
        fused = rows.get(naive.name.replace("/softmax_naive/", "/softmax_fused/"))
        if fused is None or not fused.get("bytes"):
            continue
        predicted = minus(time_of(naive), copy.time(fused["bytes"]))
        measured = minus(time_of(naive), time_of(fused))
        lines.append(
            Line(
                change="fused softmax",
                where=naive.name,
                saved_us=predicted,
                of_us=naive.time_us,
                assumption=f"it is {_ONE_PASS}",
                rows=(naive.name, copy.row),
                checks=(Check(naive.name, fused.name, predicted, measured),),
                is_of_step=False,
            )
        )
    return lines


def fused(run: Run) -> Iterator[Line]:
    copy = run.copy
    if copy is None:
        return
    for what in FUSED:
        found = [_of_step(step, what, copy) for step in run.train_steps]
        lines = [line for line in found if line]
        alone = _softmax_alone(run, copy) if what == "softmax" else []
        checks = tuple(check for line in alone for check in line.checks)
        # A run whose steps state no bytes tells of the softmax alone.
        for line in largest(lines or alone):
            yield replace(line, checks=checks)


def cuda_graph(run: Run) -> Iterator[Line]:
    """Of a GPU: only there the device waits for the host."""
    lines = []
    for step in run.train_steps:
        gaps = step.of("gap")
        lines.append(
            Line(
                change="CUDA graph",
                where=step.name,
                saved_us=total([time_of(row) for row in gaps]),
                of_us=step.whole.time_us,
                assumption="the device never waits for the host",
                rows=tuple(row.name for row in gaps),
            )
        )
    yield from largest(lines)


def fused_adamw(run: Run) -> Iterator[Line]:
    """Of an update that its experiment timed alone: a step has a fused one."""
    update = run.update
    if update is None:
        return
    fused_rows = {
        row.words.get("model"): row for row in run.of("optimizer", kind="fused")
    }
    lines, checks = [], []
    for row in run.of("optimizer", kind="textbook"):
        if not row.get("bytes"):
            continue
        predicted = minus(time_of(row), update.time(row["bytes"]))
        if other := fused_rows.get(row.words.get("model")):
            measured = minus(time_of(row), time_of(other))
            checks.append(Check(row.name, other.name, predicted, measured))
        lines.append(
            Line(
                change="fused AdamW",
                where=row.name,
                saved_us=predicted,
                of_us=row.time_us,
                assumption="it moves its bytes once, at the rate of an update in "
                "place, as the update in a step does already",
                rows=(row.name, update.row),
                is_of_step=False,
            )
        )
    for line in largest(lines):
        yield replace(line, checks=tuple(checks))
