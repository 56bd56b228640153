# SPDX-License-Identifier: MIT
"""The sentences that open a page and end a run, in absolute numbers: a step and its
phases, where its time goes, its memory, the gains from faster arithmetic and kernels,
and the cost of ranks."""

from collections.abc import Sequence

from reports.answers.against import Choice, compared, size_of
from reports.answers.breakdown import matmul_share, shown_step
from reports.answers.conclusions import CANNOT_TELL, differ, least
from reports.answers.kernels import products_in
from reports.answers.measured import counter_of, time_of
from reports.answers.shapes import arithmetic, case_text, step_text, without
from reports.answers.tables import phases_of
from reports.experiments.specs import IMPLEMENTATION, PRECISION, STRATEGY
from reports.results import text
from reports.results.rows import Result, Row, with_most


def sentences(result: Result) -> list[str]:
    """Makes the sentences that the rows allow; for a null GPU those without times."""
    made = [_peak(result)]
    if not result.of_null_gpu:
        made = [_step(result), _parts(result), *made, _gains(result), _ranks(result)]
    return list(filter(None, made))


def _step_row(result: Result) -> Row | None:
    """Returns the profiled step's timed row, or else the largest train step."""
    shown = shown_step(result)
    timed = shown.timed if shown else None
    steps = result.of("model_size", mode="train_step")
    return timed or max(steps, key=lambda row: row.get("flops") or 0.0, default=None)


def _step(result: Result) -> str:
    row = _step_row(result)
    if row is None:
        return ""
    parts = [f"{phase} {text.time(us)}" for phase, us in phases_of(row).items()]
    said = f"A `{step_text(row)}` takes {time_of(row).plus_minus(text.time)}"
    return f"{said}: {', '.join(parts)}, each a median." if parts[1:] else f"{said}."


def _parts(result: Result) -> str:
    step = shown_step(result)
    if step is None or step.whole is None or not step.parts:
        return ""
    (first, share), *others = step.shares.items()
    said = f"`{first}` takes {share.plus_minus(text.percent)} of it"
    if others:
        second, other = others[0]
        if differ(share, other):
            part = "most of it" if share.low > 0.5 else "the largest part"
            said = f"`{first}` takes {part}, {share.plus_minus(text.percent)}"
        said += f", `{second}` {text.percent(other.value)}"
    products = f"matrix products {matmul_share(step.whole).plus_minus(text.percent)}"
    where = products_in(step.profile) if step.profile else ""
    return f"{said}; {', '.join(filter(None, (products, where)))}."


def _peak(result: Result) -> str:
    """States the peak of the opening's step, or else the highest of a step, and the
    error of all rows' predictions."""
    rows = [
        row
        for row in result.rows
        if row.get("peak_bytes") and row.get("predicted_peak_bytes")
    ]
    of_steps = ("memory", "model_size", "breakdown")
    steps = [row for row in rows if row.experiment in of_steps]
    if not steps:
        return ""
    opening = _step_row(result)
    most = max(steps, key=lambda row: (row is opening, row["peak_bytes"]))
    errors = [abs(row["predicted_peak_bytes"] / row["peak_bytes"] - 1) for row in rows]
    accuracy = f"within {text.percent(max(errors))}" if any(errors) else "exact"
    return (
        f"A `{step_text(most)}` peaks at {text.size(most['peak_bytes'])}, predicted "
        f"{text.size(most['predicted_peak_bytes'])}"
        f"{f'; all {len(rows)} predictions' if len(rows) > 1 else ','} "
        f"{accuracy}."
    )


def _gain(choice: Choice, name: str, what: str) -> str:
    row = choice.rows[name]
    ratio = choice.time(row)
    times = [text.time(one.time_us) for one in (choice.base, row)]
    if not ratio.is_clear:
        return (
            f"whether {what} shortens `{choice.label}` {CANNOT_TELL}: "
            f"{' and '.join(times)}, {ratio.text()} times as long"
        )
    verb = "shortens" if ratio.high < 1 else "lengthens"
    change = f"from {' to '.join(times)}, {ratio.text()} times as long"
    return f"{what} {verb} `{choice.label}` {change}"


def _products(result: Result, choice: Choice, name: str) -> str:
    """States the rates of the run's fastest matrix products in both precisions."""
    rate = "flops_per_second"
    fastest = [
        text.rate(row[rate], "FLOP/s")
        for one in (choice.rows[name], choice.base)
        if (row := with_most(result.of("peak", precision=arithmetic(one)), rate))
    ]
    if len(fastest) < 2:
        return ""
    return f" (the run's fastest matrix products: {' instead of '.join(fastest)})"


def _gains(result: Result) -> str:
    gains = []
    for experiment, axis, what in (
        ("precision", PRECISION, "{}"),
        ("implementations", IMPLEMENTATION, "implementation={}"),
    ):
        found = compared(result.of(experiment), axis)
        if found:
            choice = max(found, key=size_of)
            best, _ = least({n: time_of(row) for n, row in choice.others.items()})
            gain = _gain(choice, best, what.format(best))
            if axis is PRECISION:
                gain += _products(result, choice, best)
            gains.append(gain)
    return f"{'; '.join(gains)}." if gains else ""


def _ranks(result: Result) -> str:
    """Compares the fastest exchange of gradients with a single rank, and with ranks
    that run side by side without an exchange."""
    exchanging = [row for row in result.of("ddp") if "exposed_us" in row.counters]

    def like(found: Sequence[Row], *but: str) -> list[Row]:
        """Selects the rows of the last setting, which is the largest."""
        but = (*STRATEGY.word.split(), *but)
        job = without(exchanging[-1], *but)
        return [row for row in found if without(row, *but) == job]

    if not exchanging:
        return ""
    best = min(like(exchanging), key=lambda row: row.time_us)
    # A single rank has as many of the machine's threads as one of the ranks.
    share = best.numbers.get("ranks")
    alone = like(result.of("ddp", strategy="alone"), "ranks", "as_one_of")
    single = next((r for r in alone if r.numbers.get("as_one_of") == share), None)
    if single is None:
        return ""
    ratio = time_of(best) / time_of(single)
    exposed = counter_of(best, "exposed_us")
    said = (
        f"A step of `{case_text(best)}` takes {time_of(best).plus_minus(text.time)}, "
        f"{ratio.if_fair.text()} times a single rank's {text.time(single.time_us)}"
    )
    for row in like(result.of("ddp", strategy="side_by_side")):
        cost = time_of(row) / time_of(single)
        said += f", side by side without exchanges {cost.if_fair.text()} times"
    return (
        f"{said}; in pairs of steps with and without exchanges, exposed communication "
        f"adds {exposed.text(text.time)} to {text.time(best['alone_us'])}."
    )
