# SPDX-License-Identifier: MIT
"""Experiments that run a step of the model."""

from reports.answers.cells import optional, ratio
from reports.results import text
from reports.results.rows import Result


def _share(part: float | None, whole: float) -> str:
    return "-" if part is None else text.percent(part / whole)


def model_size(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("model_size")
    steps = [row for row in rows if row.words["mode"] == "train_step"]
    steps = [row for row in steps if row.words["precision"] == "fp32"]
    if len(steps) < 2:
        return None
    first, last = steps[0], steps[-1]
    sentence = (
        f"In fp32 a `{last.words['model']}` train step has "
        f"{text.significant(last['flops'] / first['flops'])} times the FLOPs of a "
        f"`{first.words['model']}` one and takes "
        f"{text.significant(last.time_us / first.time_us)} times as long; its "
        f"backward pass takes "
        f"{text.significant(last['backward_us'] / last['forward_us'])} times its "
        f"forward pass, and AdamW {_share(last.get('optimizer_us'), last.time_us)}."
    )
    lines = [
        [
            f"{row.words['model']} {row.words['precision']} {row.words['mode']}",
            text.time(row.time_us),
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


def precision(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("precision")
    others = [row for row in rows if "speedup" in row.counters]
    if not others:
        return None
    best = max(others, key=lambda row: row["speedup"])
    ieee = [row["logits_error"] for row in rows if row.words["precision"] == "fp32"]
    sentence = (
        f"The best of the others, {best.words['precision']} ({best.words['model']}, "
        f"{best.words['mode']}), has {text.significant(best['speedup'])} times the "
        f"speed of fp32; the largest error of the logits is "
        f"{text.significant(max(row['logits_error'] for row in rows), 2)}, in fp32 "
        f"{text.significant(max(ieee), 2)}."
    )
    lines = [
        [
            f"{row.words['model']} {row.words['mode']} {row.words['precision']}",
            text.time(row.time_us),
            ratio(row, "speedup", row.words["precision"] == "fp32"),
            text.size(row["peak_bytes"]),
            ratio(row, "peak_ratio", row.words["precision"] == "fp32"),
            text.significant(row["logits_error"], 2),
        ]
        for row in sorted(rows, key=lambda row: (row.words["model"], row.words["mode"]))
    ]
    headings = ["step", "time", "speed-up", "peak memory", "of fp32", "logits error"]
    return sentence, text.Table(headings, lines)


def optimizer(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("optimizer")
    fused = [row for row in rows if "speedup" in row.counters]
    if not fused:
        return None
    last = fused[-1]
    sentence = (
        f"Fused AdamW over `{last.words['model']}` is "
        f"{text.significant(last['speedup'])} times as fast as the textbook form and "
        f"moves {text.rate(last['bytes_per_second'], 'B/s')}"
        + (
            f", {text.percent(last['bandwidth_share'])} of the best rate measured."
            if "bandwidth_share" in last.counters
            else "."
        )
    )
    lines = [
        [
            f"{row.words['kind']} {row.words['model']}",
            text.time(row.time_us),
            text.size(row["bytes"]),
            text.rate(row["bytes_per_second"], "B/s"),
            text.percent(row["bandwidth_share"]) if row.get("bandwidth_share") else "-",
            text.significant(row["ops_per_step"], 6),
        ]
        for row in rows
    ]
    headings = ["AdamW", "time", "bytes", "rate", "of best rate", "ops per step"]
    return sentence, text.Table(headings, lines)


def warmup(result: Result) -> tuple[str, text.Table] | None:
    measured = result.of("warmup")
    if not measured:
        return None
    # The paper suite measures several steps; the first one is summarized.
    step = measured[0].words
    rows = {int(row["calls"]): row for row in measured if row.words == step}
    if 0 not in rows or len(rows) < 2:
        return None
    cold, warm = rows[0], rows[max(rows)]
    # A warm-up is enough if it and every longer one reach the steady state.
    enough = [
        calls
        for calls in sorted(rows)
        if all(
            abs(row["steady_ratio"] - 1) < 0.05
            for more, row in rows.items()
            if more >= calls
        )
    ]
    verdict = (
        f"from {enough[0]} calls on it stays within 5 %"
        if enough
        else "none stays within 5 %, so the noise here is larger than the effect"
    )
    sentence = (
        f"The first {step['mode']} of a process (`{step['model']}`, "
        f"{step['precision']}) takes "
        f"{text.significant(cold['first_ratio'])} times a steady one, which lifts "
        f"the mean of ten to {text.significant(cold['steady_ratio'])} times the "
        f"steady state without warm-up, against "
        f"{text.significant(warm['steady_ratio'])} after {max(rows)} calls; "
        f"{verdict}."
    )
    lines = [
        [
            str(calls),
            text.time(row["mean_us"]),
            text.time(row["stddev_us"]),
            text.percent(row["cv"]),
            text.time(row["first_call_us"]),
            text.significant(row["steady_ratio"]),
        ]
        for calls, row in sorted(rows.items())
    ]
    headings = [
        "warm-up calls",
        "mean of 10",
        "sd",
        "cv",
        "first call",
        "mean / steady",
    ]
    return sentence, text.Table(headings, lines)
