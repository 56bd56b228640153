# SPDX-License-Identifier: MIT
"""Distributed experiments: data parallelism and sharded optimizers."""

from collections import defaultdict
from collections.abc import Callable

from reports.answers.cells import optional
from reports.answers.comparing import factor, least
from reports.answers.measured import CANNOT_TELL, Measured, counter_of, over
from reports.answers.shapes import number_of
from reports.results import text
from reports.results.rows import Result, Row


def _time(row: Row) -> Measured:
    return counter_of(row, "p50_us")


def _ddp_setting(row: Row) -> tuple[str, str, int, int | None, int | None]:
    """Model, precision, ranks, batch, sequence: the same work for every strategy."""
    _, model, precision = row.name_words
    ranks = number_of(row, "as_one_of") or number_of(row, "ranks") or 1
    return model, precision, ranks, number_of(row, "batch"), number_of(row, "seq")


def _strategy(row: Row) -> str:
    bucket = number_of(row, "bucket_mb")
    return row.name_words[0] + ("" if bucket is None else f" {bucket} MiB")


def _setting_text(row: Row) -> str:
    model, precision, ranks, batch, seq = _ddp_setting(row)
    return f"{model} {precision}, {ranks} ranks, {batch} x {seq}"


def _ddp_name(row: Row) -> str:
    return f"{_strategy(row)}, {_setting_text(row)}"


def _hidden(share: float) -> str:
    """Below 0 the exposed communication takes longer than the collectives alone."""
    return text.percent(share) if share > 0 else "none"


_DDP_COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "time": ("p50_us", text.time),
    "predicted": ("predicted_us", text.time),
    "forward": ("forward_us", text.time),
    "backward": ("backward_us", text.time),
    "communication": ("communication_us", text.time),
    "optimizer": ("optimizer_us", text.time),
    "exposed": ("exposed_us", text.time),
    "collectives alone": ("collectives_us", text.time),
    "hidden": ("overlap_share", _hidden),
    "calls": ("communication_calls", text.significant),
    "efficiency": ("scaling_efficiency", text.percent),
}


PREDICTED_WITHIN = 0.15  # as the experiment expects


def _fastest_sentence(strategies: list[Row]) -> str:
    """The fastest strategy of one setting, as far as it can be told."""
    times = {_strategy(row): _time(row) for row in strategies}
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
        f"`{row.name_words[0]}` takes "
        f"{factor(over(_time(row), _time(best)), f'as long as {_strategy(best)}')}"
        for row in strategies
        if row.name_words[0] in ("per_parameter", "reducer") and row is not best
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


def _ddp_sentence(rows: list[Row]) -> str:
    """About the strategies of one setting."""
    strategies = [row for row in rows if row.name_words[0] != "alone"]
    sentence = f"With {_setting_text(strategies[0])} {_fastest_sentence(strategies)}"
    sentence += _baseline_sentence(strategies)
    best = min(strategies, key=lambda row: row["p50_us"])
    alone = [row for row in rows if row.name_words[0] == "alone"]
    bucket = best.get("optimal_bucket_mb")
    if bucket is not None:
        sentence += (
            f"; the best bucket by the formula has {text.significant(bucket)} MiB"
        )
    if alone:
        efficiency = over(_time(alone[0]), _time(best))
        sentence += (
            f"; the scaling efficiency of {_strategy(best)} is "
            f"{efficiency.text(text.percent)}"
        )
    return f"{sentence}.{_prediction_sentence(strategies)}"


def ddp(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("ddp")
    strategies = [row for row in rows if row.name_words[0] != "alone"]
    if not strategies:
        return None
    # The last setting of a run is the largest.
    last = _ddp_setting(strategies[-1])
    sentence = _ddp_sentence([row for row in rows if _ddp_setting(row) == last])
    lines = [
        [
            _ddp_name(row),
            *(optional(row, *column) for column in _DDP_COLUMNS.values()),
        ]
        for row in rows
    ]
    return sentence, text.Table(["strategy, step", *_DDP_COLUMNS], lines)


_SHARDED_COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "time": ("p50_us", text.time),
    "optimizer": ("optimizer_us", text.time),
    "communication": ("communication_us", text.time),
    "peak of set-up": ("init_peak_bytes", text.size),
    "before step": ("before_step_peak_bytes", text.size),
    "of step": ("step_peak_bytes", text.size),
    "peak": ("peak_bytes", text.size),
    "predicted": ("predicted_peak_bytes", text.size),
}


def _ranks_and_shape(row: Row) -> str:
    ranks, batch, seq = (number_of(row, key) for key in ("ranks", "batch", "seq"))
    return f"{ranks} ranks, {batch} x {seq}"


def _sharded_sentence(whole: Row, shard: Row) -> str:
    sentence = (
        f"Sharding the optimizer of `{shard.name_words[1]}` over "
        f"{_ranks_and_shape(shard)}, takes "
        f"{factor(over(_time(shard), _time(whole)), 'the time of replicating it')}"
    )
    if whole.get("peak_bytes") and shard.get("peak_bytes"):
        sentence += (
            f" and {text.percent(shard['peak_bytes'] / whole['peak_bytes'])} of the "
            f"peak memory, {text.size(shard['peak_bytes'])} instead of "
            f"{text.size(whole['peak_bytes'])}"
        )
    return sentence


def sharded_optimizer(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("sharded_optimizer")
    settings: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in rows:
        _, kind, setting = row.name.split("/", 2)
        settings[setting][kind] = row
    compared = [
        by_kind
        for by_kind in settings.values()
        if {"replicated", "sharded"} <= set(by_kind)
    ]
    if not compared:
        return None
    # The last setting of a run is the largest.
    sentence = _sharded_sentence(compared[-1]["replicated"], compared[-1]["sharded"])
    lines = [
        [
            f"{row.name_words[0]}, {row.name_words[1]}, {_ranks_and_shape(row)}",
            *(optional(row, *column) for column in _SHARDED_COLUMNS.values()),
        ]
        for row in rows
    ]
    return f"{sentence}.", text.Table(["optimizer", *_SHARDED_COLUMNS], lines)
