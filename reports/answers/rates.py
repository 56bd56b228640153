# SPDX-License-Identifier: MIT
"""Peak rates, host-device transfers, and the accuracy of the timer."""

from reports.results import text
from reports.results.rows import Result, Row


def _best(rows: list[Row], counter: str) -> Row | None:
    rows = [row for row in rows if row.get(counter)]
    return max(rows, key=lambda row: row[counter], default=None)


def peak(result: Result) -> tuple[str, text.Table] | None:
    products = result.of("peak", work="matmul")
    product = _best(products, "flops_per_second")
    copy = _best(result.of("peak", work="copy"), "bytes_per_second")
    update = _best(result.of("peak", work="update"), "bytes_per_second")
    overheads = result.of("peak", work="op_overhead")
    overhead = min(overheads, key=lambda row: row["op_us"], default=None)
    if not (product and copy and update and overhead):
        return None
    sentence = (
        f"{text.rate(product['flops_per_second'], 'FLOP/s')} "
        f"({product.words['precision']}), "
        f"{text.rate(copy['bytes_per_second'], 'B/s')} of a copy, "
        f"{text.rate(update['bytes_per_second'], 'B/s')} of an update in place, and "
        f"{text.time(overhead['op_us'])} for an operation on one element."
    )
    lines = [
        [
            row.name.removeprefix("peak/"),
            text.time(row.time_us),
            text.rate(row["flops_per_second"], "FLOP/s")
            if row.get("flops_per_second")
            else "-",
            text.rate(row["bytes_per_second"], "B/s")
            if row.words["work"] in ("copy", "update")
            else "-",
        ]
        for row in result.of("peak")
    ]
    return sentence, text.Table(["work", "time", "FLOP rate", "byte rate"], lines)


def transfer(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("transfer")
    best = _best(rows, "bytes_per_second")
    if best is None:
        return None
    largest = max(rows, key=lambda row: row["size"])
    sentence = (
        f"The fastest, {best.name.removeprefix('transfer/')}, moves "
        f"{text.rate(best['bytes_per_second'], 'B/s')}; the largest, "
        f"{largest.name.removeprefix('transfer/')}, "
        f"{text.rate(largest['bytes_per_second'], 'B/s')}."
    )
    lines = [
        [
            row.name.removeprefix("transfer/"),
            text.time(row.time_us),
            text.rate(row["bytes_per_second"], "B/s"),
        ]
        for row in rows
    ]
    return sentence, text.Table(["transfer", "time", "rate"], lines)


def harness(result: Result) -> tuple[str, text.Table] | None:
    empty = result.of("harness", work="empty")
    spins = result.of("harness", work="spin")
    if not empty or not spins:
        return None
    worst = max(abs(row.time_us / row["us"] - 1) for row in spins)
    sentence = (
        f"An empty call costs {text.time(empty[0].time_us)}, and known durations are "
        f"reported within {text.percent(worst)}."
    )
    lines = [["empty", "0", text.time(empty[0].time_us)]]
    lines += [["spin", text.time(row["us"]), text.time(row.time_us)] for row in spins]
    return sentence, text.Table(["work", "true", "reported"], lines)
