# SPDX-License-Identifier: MIT
"""Changes of kernels: one pass over memory where there are several, and no gaps."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reports.advice.bounds import product_us
from reports.advice.line import Check, Line, largest
from reports.advice.rates import Rate
from reports.advice.run import TRAINING, Run, Step, shape_of
from reports.answers.against import Axis, baselines
from reports.answers.measured import Measured, minus, time_of, times, total
from reports.experiments.cuda_graph import LAUNCH
from reports.experiments.implementations import IMPLEMENTATION
from reports.results.rows import Row

# By what is fused: the components whose work beside products becomes one pass.
FUSED = {
    "norm": ("norm", "residual"),
    "softmax": ("scores", "softmax"),
    "SwiGLU": ("ffn",),
    "cross entropy": ("cross_entropy",),
    "RoPE": ("rope",),
}
# The operation in `fused_ops`.
_OPS = {
    "norm": "add_rms_norm",
    "softmax": "causal_softmax",
    "SwiGLU": "swiglu",
    "cross entropy": "cross_entropy",
    "RoPE": "rope",
}
_SOFTMAX = Axis("part", "softmax_naive")
# An operation that was timed alone: written out, and in one pass.
Pair = tuple[Row, Row]
_ONE_PASS = "one pass over memory, at the rate of a copy"


def _saved(row: Row, copy: Rate) -> Measured:
    """If all but the row's products is one pass."""
    beside = times(time_of(row), 1 - product_us(row) / row.time_us)
    return minus(beside, copy.time(row["pass_bytes"]))


def of_step(step: Step, what: str, copy: Rate) -> Line | None:
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


def _pairs(run: Run, what: str, step: Step | None) -> list[Pair]:
    """Those of the step's shape, if the run has them. A softmax that was timed beside
    its products has a shape of its own."""
    rows = run.of("fused_ops", op=_OPS[what])
    found = list(baselines(rows, IMPLEMENTATION, "fused"))
    if step:
        shape = shape_of(step.whole, "mode")
        found = [pair for pair in found if shape_of(pair[0], "mode") == shape] or found
    if what == "softmax":
        found += baselines(run.of("softmax_vs_matmul"), _SOFTMAX, "softmax_fused")
    return [(plain, fused) for plain, fused in found if fused.get("bytes")]


def _check(pair: Pair, copy: Rate) -> Check:
    plain, fused = pair
    predicted = minus(time_of(plain), copy.time(fused["bytes"]))
    measured = minus(time_of(plain), time_of(fused))
    return Check(plain.name, fused.name, predicted, measured)


def _alone(what: str, pairs: Sequence[Pair], copy: Rate) -> list[Line]:
    return [
        Line(
            change=f"fused {what}",
            where=plain.name,
            saved_us=check.predicted,
            of_us=plain.time_us,
            assumption=f"it is {_ONE_PASS}",
            rows=(plain.name, copy.row),
            is_of_step=False,
        )
        for plain, check in ((pair[0], _check(pair, copy)) for pair in pairs)
    ]


def fused(run: Run) -> Iterator[Line]:
    copy = run.copy
    if copy is None:
        return
    for what in FUSED:
        steps = {
            line.where: (step, line)
            for step in run.train_steps
            if (line := of_step(step, what, copy))
        }
        # A run whose steps state no bytes tells of the operation alone.
        lines = [line for _, line in steps.values()]
        for best in largest(lines or _alone(what, _pairs(run, what, None), copy)):
            step = steps[best.where][0] if lines else None
            pairs = _pairs(run, what, step)
            yield replace(best, checks=tuple(_check(pair, copy) for pair in pairs))


def cuda_graph(run: Run) -> Iterator[Line]:
    """Of a GPU: only there the device waits for the host."""
    lines: list[Line] = []
    checks: list[Check] = []
    pairs = baselines(run.of("cuda_graph", mode=TRAINING), LAUNCH, "graph")
    replayed = {shape_of(eager): (eager, graph) for eager, graph in pairs}
    for step in run.train_steps:
        gaps = step.of("gap")
        saved = total([time_of(row) for row in gaps])
        if pair := replayed.get(shape_of(step.whole)):
            measured = minus(time_of(pair[0]), time_of(pair[1]))
            checks.append(Check(pair[0].name, pair[1].name, saved, measured))
        lines.append(
            Line(
                change="CUDA graph",
                where=step.name,
                saved_us=saved,
                of_us=step.whole.time_us,
                assumption="the device never waits for the host",
                rows=tuple(row.name for row in gaps),
            )
        )
    for line in largest(lines):
        yield replace(line, checks=tuple(checks))
