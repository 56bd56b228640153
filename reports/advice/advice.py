# SPDX-License-Identifier: MIT
"""All changes that would help, largest gain first, and the data that the run lacks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reports.advice.bounds import table
from reports.advice.kernels import (
    cuda_graph,
    flash_attention,
    fused,
    fused_implementation,
)
from reports.advice.line import Line, judged, order
from reports.advice.run import Run
from reports.advice.steps import bf16, bucketed_exchange, checkpointing, larger_batch
from reports.answers.shapes import arithmetic
from reports.results.rows import Result
from reports.results.text import Table

# Each yields lines, each about the step where a change saves most time or memory.
CHANGES: tuple[Callable[[Run], Iterator[Line]], ...] = (
    fused,
    flash_attention,
    fused_implementation,
    cuda_graph,
    bf16,
    larger_batch,
    checkpointing,
    bucketed_exchange,
)


@dataclass(frozen=True)
class Advice:
    lines: list[Line]
    headroom: Table | None  # by component, of the largest profiled step
    lacks: list[str]  # data missing from the run, and the consequences


def _lacks(run: Run) -> list[str]:
    found = []
    steps = run.train_steps
    if not steps:
        found.append("no train step of `breakdown`: nothing about the parts of a step")
    elif not any("pass_bytes" in row.counters for row in steps[-1].parts.values()):
        found.append(
            "no bytes in the rows of `breakdown`: bounds rest on FLOPs alone, and no "
            "line is about a step's fused kernels"
        )
    if steps and run.products(arithmetic(steps[-1].row)) is None:
        found.append("no `peak/matmul` in the step's precision: no bound by FLOPs")
    if run.copy is None:
        found.append("no `peak/copy`: nothing about passes over memory")
    return found


def advice(result: Result) -> Advice:
    """Analyzes a run. Errors: NotAResult, if a row lacks a part that it must have."""
    if result.of_null_gpu:
        return Advice([], None, ["a null GPU has no times"])
    run = Run(result)
    lines = [line for change in CHANGES for line in change(run)]
    step = run.train_steps[-1] if run.train_steps else None
    return Advice(
        sorted(judged(lines), key=order),
        table(step, run) if step else None,
        _lacks(run),
    )
