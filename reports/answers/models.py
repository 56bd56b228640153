# SPDX-License-Identifier: MIT
"""Experiments that run a step of the model."""

from reports.answers.cells import optional, ratio
from reports.answers.comparing import factor, least_text
from reports.answers.measured import counter_of, over, time_of
from reports.answers.shapes import by_shape, shape_text, step_text
from reports.results import text
from reports.results.rows import Result, Row


def _share(part: float | None, whole: float) -> str:
    return "-" if part is None else text.percent(part / whole)


def _sizes_of_one_step(rows: list[Row]) -> list[Row]:
    """The train steps of one precision and shape with most models, smallest first.

    fp32 if it has as many models as another precision; the longest of its shapes.
    """
    steps = [row for row in rows if row.words["mode"] == "train_step"]
    groups = by_shape(steps, "precision").values()

    def rank(group: list[Row]) -> tuple[int, bool, float]:
        is_fp32 = group[0].words["precision"] == "fp32"
        tokens = group[0].counters.get("batch", 1) * group[0].counters.get("seq", 1)
        return len(group), is_fp32, tokens

    best = max(groups, key=rank, default=[])
    return sorted(best, key=lambda row: row["flops"])


def model_size(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("model_size")
    steps = _sizes_of_one_step(rows)
    if len(steps) < 2:
        return None
    first, last = steps[0], steps[-1]
    longer = over(time_of(last), time_of(first))
    backward = over(counter_of(last, "backward_us"), counter_of(last, "forward_us"))
    sentence = (
        f"At {shape_text(last)} in {last.words['precision']} a `{last.words['model']}` "
        f"train step has {text.significant(last['flops'] / first['flops'])} times the "
        f"FLOPs of a `{first.words['model']}` one and takes "
        f"{factor(longer, 'the time')}; its backward pass takes "
        f"{factor(backward, 'its forward pass')}, and AdamW "
        f"{_share(last.get('optimizer_us'), last.time_us)} of the step."
    )
    lines = [
        [
            step_text(row),
            time_of(row).plus_minus(text.time),
            *(
                _share(row.get(f"{phase}_us"), row.time_us)
                for phase in ("forward", "loss", "backward", "optimizer")
            ),
            text.rate(row["flops_per_second"], "FLOP/s"),
            optional(row, "mfu_measured", text.percent),
        ]
        for row in rows
    ]
    headings = ["step", "time", "forward", "loss", "backward", "AdamW", "rate"]
    headings.append("of measured peak")
    return sentence, text.Table(headings, lines)


def _precision_sentence(rows: list[Row]) -> str:
    """The fastest precision of one step, against fp32."""
    step = f"{rows[0].words['model']} {rows[0].words['mode']} {shape_text(rows[0])}"
    times = {row.words["precision"]: time_of(row) for row in rows}
    base = times.pop("fp32")
    fastest = min(times, key=lambda name: times[name].value)
    sentence = f"In `{step}` {fastest} has "
    sentence += factor(over(base, times[fastest]), "the speed of fp32")
    if len(times) > 1:
        told = least_text(times, "fastest of the others")
        sentence += f". {told}"
    return sentence


def precision(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("precision")
    steps = [
        group
        for group in by_shape(rows, "model", "mode").values()
        if len(group) > 1 and any(row.words["precision"] == "fp32" for row in group)
    ]
    if not steps:
        return None
    worst = max(rows, key=lambda row: row["logits_error"])
    ieee = [row["logits_error"] for row in rows if row.words["precision"] == "fp32"]
    # The last step of a run is the largest.
    sentence = (
        f"{_precision_sentence(steps[-1])}. The largest error of the logits is "
        f"{text.significant(worst['logits_error'], 2)} (`{step_text(worst)}`), in fp32 "
        f"{text.significant(max(ieee), 2)}."
    )
    lines = [
        [
            step_text(row),
            time_of(row).plus_minus(text.time),
            ratio(row, "speedup", row.words["precision"] == "fp32"),
            text.size(row["peak_bytes"]),
            ratio(row, "peak_ratio", row.words["precision"] == "fp32"),
            text.significant(row["logits_error"], 2),
        ]
        for group in by_shape(rows, "model", "mode").values()
        for row in group
    ]
    headings = ["step", "time", "speed-up", "peak memory", "of fp32", "logits error"]
    return sentence, text.Table(headings, lines)


def optimizer(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("optimizer")
    kinds = {(row.words["kind"], row.words["model"]): row for row in rows}
    pairs = [
        (kinds["textbook", model], fused)
        for (kind, model), fused in kinds.items()
        if kind == "fused" and ("textbook", model) in kinds
    ]
    if not pairs:
        return None
    textbook, fused = pairs[-1]  # of the largest model
    sentence = (
        f"Fused AdamW over `{fused.words['model']}` in fp32 has "
        f"{factor(over(time_of(textbook), time_of(fused)), 'the textbook speed')} "
        f"and moves {text.rate(fused['bytes_per_second'], 'B/s')}"
        + (
            f", {text.percent(fused['bandwidth_share'])} of the best rate measured."
            if "bandwidth_share" in fused.counters
            else "."
        )
    )
    lines = [
        [
            f"{row.words['kind']} {row.words['model']}",
            time_of(row).plus_minus(text.time),
            text.size(row["bytes"]),
            text.rate(row["bytes_per_second"], "B/s"),
            text.percent(row["bandwidth_share"]) if row.get("bandwidth_share") else "-",
            text.significant(row["ops_per_step"], 6),
        ]
        for row in rows
    ]
    headings = ["AdamW", "time", "bytes", "rate", "of best rate", "ops per step"]
    return sentence, text.Table(headings, lines)
