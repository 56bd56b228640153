# SPDX-License-Identifier: MIT
"""Predicted gains from other kernels: one pass over memory instead of several,
attention without scores in memory, all fused kernels at once, and no gaps."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reports.advice.bounds import product_us
from reports.advice.line import Check, Line, largest, saved_bytes, sized, timed
from reports.advice.run import (
    OWN_LIBRARY,
    TRAINING,
    Estimate,
    Rate,
    Run,
    names,
    saved_by,
    shape_of,
)
from reports.answers.against import baselines
from reports.answers.breakdown import Step
from reports.answers.measured import Measured, exactly, time_of, total
from reports.answers.shapes import arithmetic
from reports.experiments.spec import Axis
from reports.experiments.specs import IMPLEMENTATION, LAUNCH
from reports.results.rows import Row

# For each fused kernel: the components that become one pass, except for their products,
# and the operation in `fused_ops`.
FUSED = {
    "norm": (("norm", "residual"), "add_rms_norm"),
    "softmax": (("scores", "softmax"), "causal_softmax"),
    "SwiGLU": (("ffn",), "swiglu"),
    "cross entropy": (("cross_entropy",), "cross_entropy"),
    "RoPE": (("rope",), "rope"),
}
_SOFTMAX = Axis("part", "softmax_naive")
_NAIVE = ("scores", "softmax", "value")
_VARIANT = Axis("variant", "naive")
_FLASH = ("sdpa_flash", "sdpa_efficient", "own")
# Modes in which fused kernels save the same time: they leave the optimizer unchanged.
_MODES = (TRAINING, "forward_backward")
# Rows of an operation that was timed alone: as several operators, and in one pass.
Pair = tuple[Row, Row]
_ONE_PASS = "one pass over memory, at the rate of a copy"


def _beside(row: Row) -> Measured:
    """Returns the time outside products."""
    return time_of(row) * (1 - product_us(row) / row.time_us)


def _fused(step: Step, what: str, copy: Rate) -> Line | None:
    """Predicts the gain if everything except the products becomes one pass."""
    rows = step.of(*FUSED[what][0])
    if not rows or any(row.get("pass_bytes") is None for row in rows):
        return None
    saved = [_beside(row) - copy.time(row["pass_bytes"]) for row in rows]
    return Line(
        change=f"fused {what}",
        base=step.row,
        saved=Estimate(total(saved), (*names(rows), *copy.rows)),
        assumption=f"all but its products is {_ONE_PASS}",
    )


def _pairs(run: Run, what: str, step: Row | None) -> list[Pair]:
    """Returns pairs of the step's shape, if the run has them. Softmax rows of
    `softmax_vs_matmul` have a shape of their own and are always included."""
    rows = run.of("fused_ops", op=FUSED[what][1])
    found = list(baselines(rows, IMPLEMENTATION, "fused"))
    if step:
        shape = shape_of(step, "mode")
        found = [pair for pair in found if shape_of(pair[0], "mode") == shape] or found
    if what == "softmax":
        found += baselines(run.of("softmax_vs_matmul"), _SOFTMAX, "softmax_fused")
    return [(plain, fused) for plain, fused in found if fused.get("bytes")]


def _check(pair: Pair, copy: Rate) -> Check:
    plain, fused = pair
    return timed(*pair, time_of(plain) - copy.time(fused["bytes"]))


def _alone(what: str, pairs: Sequence[Pair], copy: Rate) -> list[Line]:
    return [
        Line(
            change=f"fused {what}",
            base=pair[0],
            saved=Estimate(_check(pair, copy).predicted, (pair[0].name, *copy.rows)),
            assumption=f"it is {_ONE_PASS}",
            is_of_step=False,
        )
        for pair in pairs
    ]


def fused(run: Run) -> Iterator[Line]:
    if (copy := run.copy) is None:
        return
    for what in FUSED:
        every = (_fused(step, what, copy) for step in run.train_steps)
        lines = list(filter(None, every))
        # If the steps state no bytes, only operations that were timed alone remain.
        for best in largest(lines or _alone(what, _pairs(run, what, None), copy)):
            pairs = _pairs(run, what, best.base if best.is_of_step else None)
            yield replace(best, checks=tuple(_check(pair, copy) for pair in pairs))


def _flash_us(row: Row, products: Rate, copy: Rate) -> Measured:
    """Predicts flash attention's time from the FLOPs and bytes of the row alone."""
    flops = row["kernel_flops_per_second"] * row.time_us * 1e-6
    found = [products.time(flops), copy.time(row["bytes"])]
    return max(found, key=lambda time: time.value)


def _flash_checks(run: Run) -> Iterator[Check]:
    rows = run.of("attention_scaling")
    for kernel in _FLASH:
        for naive, flash in baselines(rows, _VARIANT, kernel):
            products = run.attention_products(arithmetic(naive))
            has_work = flash.get("kernel_flops_per_second") and flash.get("bytes")
            if products and run.copy and has_work:
                new = _flash_us(flash, products, run.copy)
                yield timed(naive, flash, time_of(naive) - new)


def _scores_bytes(run: Run, step: Step) -> float | None:
    """Returns the bytes that naive attention saves for its backward pass: exp(scores)
    in fp32, and the weights; at most the part of the peak that a change can save."""
    softmax = step.parts.get(("forward", "softmax"))
    most = run.room(step.row)
    if softmax is None or softmax.get("pass_bytes") is None or most is None:
        return None
    width = 4 if step.row.words["precision"] in ("fp32", "tf32") else 2
    scores = softmax["pass_bytes"] / (2 * width)
    return min(most, (4 + width) * scores)


def _flash(run: Run, step: Step) -> Line | None:
    """Predicts the gain if only products remain and the first one is done twice."""
    rows = step.of(*_NAIVE)
    if not rows:
        return None
    scores = step.parts.get(("forward", "scores"))
    again = exactly(product_us(scores) if scores else 0)
    saved = total([_beside(row) for row in rows]) - again
    return Line(
        change="flash attention",
        base=step.row,
        saved=Estimate(saved, names(rows)),
        assumption="its products alone remain, at the rate that they have, and the "
        "backward pass makes the scores once more",
        saved_bytes=_scores_bytes(run, step),
    )


def flash_attention(run: Run) -> Iterator[Line]:
    lines = (_flash(run, step) for step in run.train_steps)
    yield from largest(lines, _flash_checks(run))


def _by_other_library(run: Run, step: Step) -> Line | None:
    """Predicts the gain from the library that multiplies in the fused implementation,
    outside of attention."""
    precision = arithmetic(step.row)
    chosen = run.of("implementations", implementation="fused", precision=precision)
    library = chosen[-1].findings.get("products", OWN_LIBRARY) if chosen else ""
    rows = [row for row in step.parts.values() if row.words["component"] not in _NAIVE]
    times = [
        time_of(row) * (us / row.time_us) for row in rows if (us := product_us(row))
    ]
    products = Estimate(total(times), names(rows))
    now, then = (
        run.products_like(step.row, library=name) for name in (OWN_LIBRARY, library)
    )
    saved = saved_by(now, then, products)
    if library == OWN_LIBRARY or not saved:
        return None
    assumption = "they run at its rate of about as many tokens"
    return Line(f"products by {library}", step.row, saved, assumption)


def _implemented(run: Run, step: Step, copy: Rate) -> Line | None:
    # Flash attention includes the softmax.
    found = [_fused(step, what, copy) for what in FUSED if what != "softmax"]
    found.append(_flash(run, step))
    parts = [line for line in found if line]
    if len(parts) < len(found):  # the prediction would be too low
        return None
    if products := _by_other_library(run, step):
        parts.append(products)
    pairs = [
        (plain, fused)
        for plain, fused in baselines(
            run.of("implementations"), IMPLEMENTATION, "fused"
        )
        if shape_of(plain, "mode") == shape_of(step.row, "mode")
        and plain.words.get("mode") in _MODES
    ]
    saved = total([part.saved.us for part in parts])
    steps = [pair for pair in pairs if pair[0].words["mode"] == TRAINING]
    return Line(
        change=f"{IMPLEMENTATION.word}=fused",
        base=step.row,
        saved=Estimate(saved, tuple(row for part in parts for row in part.saved.rows)),
        assumption=f"{', '.join(part.change for part in parts)} at once",
        saved_bytes=saved_bytes(*steps[0]) if steps else None,
        checks=tuple(c for p in pairs for c in (timed(*p, saved), *sized(*p))),
        measured=(steps or pairs)[0] if pairs else None,
    )


def fused_implementation(run: Run) -> Iterator[Line]:
    if copy := run.copy:
        yield from largest(_implemented(run, step, copy) for step in run.train_steps)


def cuda_graph(run: Run) -> Iterator[Line]:
    """Predicts the gain if a GPU had no gaps; only a GPU waits for the host."""
    lines: list[Line] = []
    checks: list[Check] = []
    pairs = baselines(run.of("cuda_graph", mode=TRAINING), LAUNCH, "graph")
    replayed = {shape_of(eager): (eager, graph) for eager, graph in pairs}
    for step in run.train_steps:
        gaps = step.of("gap")
        saved = total([time_of(row) for row in gaps])
        pair = replayed.get(shape_of(step.row))
        checks += [timed(*pair, saved)] if pair else []
        lines.append(
            Line(
                change="CUDA graph",
                base=step.row,
                saved=Estimate(saved, names(gaps)),
                assumption="the device never waits for the host",
                measured=pair,
            )
        )
    yield from largest(lines, checks)
