# SPDX-License-Identifier: MIT
"""Data-parallel training."""

from collections.abc import Callable

from reports.answers.cells import hidden, optional, with_interval
from reports.answers.comparing import factor, least
from reports.answers.measured import CANNOT_TELL, Measured, counter_of, over
from reports.answers.shapes import number_of
from reports.results import text
from reports.results.rows import Result, Row


def _time(row: Row) -> Measured:
    return counter_of(row, "p50_us")


# Rows of ddp that exchange nothing.
WITHOUT_EXCHANGE = ("alone", "side_by_side", "whole_batch")


def _ddp_setting(row: Row) -> tuple[str, str, int, int | None, int | None]:
    """Model, precision, ranks, batch of a rank, sequence: what rows compare."""
    model, precision = row.words["model"], row.words["precision"]
    batch, replaced = number_of(row, "batch"), number_of(row, "instead_of")
    ranks = number_of(row, "as_one_of") or replaced or number_of(row, "ranks") or 1
    if batch is not None and replaced is not None:
        batch //= replaced
    return model, precision, ranks, batch, number_of(row, "seq")


def strategy(row: Row) -> str:
    bucket, predicted = number_of(row, "bucket_mb"), row.get("bucket_bytes")
    if predicted is not None:
        return f"{row.words['strategy']} of {text.size(predicted)}"
    return row.words["strategy"] + ("" if bucket is None else f" {bucket} MiB")


def _exchanging(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.words["strategy"] not in WITHOUT_EXCHANGE]


def last_setting(rows: list[Row]) -> list[Row]:
    """The rows of one model on as many ranks: of a run's last setting, its largest."""
    strategies = _exchanging(rows)
    last = _ddp_setting(strategies[-1]) if strategies else None
    return [row for row in rows if _ddp_setting(row) == last]


def setting_text(row: Row) -> str:
    model, precision, ranks, batch, seq = _ddp_setting(row)
    return f"{model} {precision}, {ranks} ranks, {batch} x {seq}"


def _ddp_name(row: Row) -> str:
    return f"{strategy(row)}, {setting_text(row)}"


_DDP_COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "time": ("p50_us", text.time),
    "predicted": ("predicted_us", text.time),
    "forward": ("forward_us", text.time),
    "backward": ("backward_us", text.time),
    "communication": ("communication_us", text.time),
    "optimizer": ("optimizer_us", text.time),
    "exposed": ("exposed_us", text.time),
    "collectives alone": ("collectives_us", text.time),
    "hidden": ("overlap_share", hidden),
    "calls": ("communication_calls", text.significant),
    "efficiency": ("scaling_efficiency", text.percent),
}
_WITH_INTERVAL = ("exposed_us", "overlap_share")


PREDICTED_WITHIN = 0.15  # as the experiment expects


def _fastest_sentence(strategies: list[Row]) -> str:
    """The fastest strategy of one setting, as far as it can be told."""
    times = {strategy(row): _time(row) for row in strategies}
    first, rivals = least(times)
    told = times[first].plus_minus(text.time)
    if not rivals:
        return f"the fastest is {first}: {told}"
    return (
        f"which is the fastest {CANNOT_TELL}: {first} takes {told}, "
        f"{len(rivals)} of the other {len(times) - 1} may take less"
    )


def _baseline_sentence(strategies: list[Row]) -> str:
    """The quickest against the plain exchange and against PyTorch's."""
    best = min(strategies, key=lambda row: row["p50_us"])
    parts = [
        f"`{row.words['strategy']}` takes "
        f"{factor(over(_time(row), _time(best)), f'as long as {strategy(best)}')}"
        for row in strategies
        if row.words["strategy"] in ("per_parameter", "reducer") and row is not best
    ]
    return "".join(f"; {part}" for part in parts)


def _prediction_sentence(rows: list[Row]) -> str:
    """Whether the predicted times are those measured."""
    ratios = [
        over(_time(row), counter_of(row, "predicted_us"))
        for row in rows
        if row.get("predicted_us")
    ]
    if not ratios:
        return ""
    low, high = 1 - PREDICTED_WITHIN, 1 + PREDICTED_WITHIN
    missed = [ratio for ratio in ratios if ratio.outside(low, high)]
    held = sum(ratio.within(low, high) for ratio in ratios)
    of = f"of {text.plural(len(ratios), 'row')}"
    ends = [text.significant(end) for end in _ends(ratios)]
    told = f"{ends[0]} to {ends[1]} times the predicted time"
    if held == len(ratios):
        return f" The prediction holds within 15 %: measured are {told}."
    if not missed:
        return f" Whether the prediction holds {CANNOT_TELL}: measured are {told}."
    sides = {"low" if ratio.value > 1 else "high" for ratio in missed}
    return (
        f" The prediction fails on {len(missed)} {of}, where it is too "
        f"{' or too '.join(sorted(sides))}: measured are {told}."
    )


def _ends(ratios: list[Measured]) -> tuple[float, float]:
    values = [ratio.value for ratio in ratios]
    return min(values), max(values)


def _bucket_sentence(strategies: list[Row], best: Row) -> str:
    """What the formula's best bucket has, and takes if it was measured."""
    formula = best.get("optimal_bucket_mb")
    sentence = ""
    if formula is not None:
        sentence = (
            f"; the best bucket by the formula has {text.significant(formula)} MiB"
        )
    for row in strategies:
        if row.get("bucket_bytes") is not None and row is not best:
            ratio = over(_time(row), _time(best))
            sentence += (
                f"; `{strategy(row)}`, the predicted best, takes "
                f"{factor(ratio, f'as long as {strategy(best)}')}"
            )
    return sentence


def _scaling_sentence(rows: list[Row], best: Row) -> str:
    """The best strategy against processes that exchange nothing."""
    others = {
        row.words["strategy"]: row for row in rows if row not in _exchanging(rows)
    }
    alone, whole = others.get("alone"), others.get("whole_batch")
    beside = others.get("side_by_side")
    sentence = ""
    if alone:
        efficiency = over(_time(alone), _time(best))
        sentence += (
            f"; the scaling efficiency of {strategy(best)} is "
            f"{efficiency.text(text.percent)}"
        )
    if alone and beside:
        slower = factor(over(_time(beside), _time(alone)), "as long as one by itself")
        sentence += f"; ranks that compute side by side take {slower}"
    if whole:
        ratio = over(_time(whole), _time(best))
        sentence += (
            "; one process with the whole batch takes "
            f"{factor(ratio, f'as long as {strategy(best)}')}"
        )
    return sentence


def _ddp_sentence(rows: list[Row]) -> str:
    """About the strategies of one setting."""
    strategies = _exchanging(rows)
    sentence = f"With {setting_text(strategies[0])} {_fastest_sentence(strategies)}"
    sentence += _baseline_sentence(strategies)
    best = min(strategies, key=lambda row: row["p50_us"])
    sentence += _bucket_sentence(strategies, best) + _scaling_sentence(rows, best)
    return f"{sentence}.{_prediction_sentence(strategies)}"


def ddp(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("ddp")
    strategies = _exchanging(rows)
    if not strategies:
        return None
    sentence = _ddp_sentence(last_setting(rows))
    lines = [
        [
            _ddp_name(row),
            *(
                (with_interval if column[0] in _WITH_INTERVAL else optional)(
                    row, *column
                )
                for column in _DDP_COLUMNS.values()
            ),
        ]
        for row in rows
    ]
    return sentence, text.Table(["strategy, step", *_DDP_COLUMNS], lines)
