# SPDX-License-Identifier: MIT
"""Peak rates, host-device transfers, and the accuracy of the timer."""

import math

from reports.answers.comparing import least, listed
from reports.answers.measured import CANNOT_TELL, counter_of, exactly, over, time_of
from reports.results import text
from reports.results.rows import Result, Row


def _best(rows: list[Row], counter: str) -> Row | None:
    rows = [row for row in rows if row.get(counter)]
    return max(rows, key=lambda row: row[counter], default=None)


def peak(result: Result) -> tuple[str, text.Table] | None:
    product = _best(result.of("peak"), "flops_per_second")
    copy = _best(result.of("peak", work="copy"), "bytes_per_second")
    update = _best(result.of("peak", work="update"), "bytes_per_second")
    fastest = _best([r for r in result.of("peak") if _is_pass(r)], "bytes_per_second")
    overheads = result.of("peak", work="op_overhead")
    overhead = min(overheads, key=lambda row: row["op_us"], default=None)
    if not (product and copy and update and fastest and overhead):
        return None
    passes = {row.name: row for row in (copy, update, fastest)}.values()
    moved = ", ".join(f"{_byte_rate(row)} ({_case(row)})" for row in passes)
    sentence = (
        f"{_flop_rate(product)} ({_case(product)}), {moved}, and "
        f"{counter_of(overhead, 'op_us').plus_minus(text.time)} for an operation on "
        "one element."
    )
    lines = [
        [
            _case(row),
            _time(row),
            _flop_rate(row) if row.get("flops_per_second") else "-",
            _byte_rate(row) if _is_pass(row) else "-",
        ]
        for row in result.of("peak")
    ]
    return sentence, text.Table(["work", "time", "FLOP rate", "byte rate"], lines)


def _is_pass(row: Row) -> bool:
    return row.words["work"] in ("copy", "update", "stream")


def _time(row: Row) -> str:
    return time_of(row).plus_minus(text.time)


def _flop_rate(row: Row) -> str:
    rate = counter_of(row, "flops_per_second")
    return rate.plus_minus(lambda value: text.rate(value, "FLOP/s"))


def _byte_rate(row: Row) -> str:
    return counter_of(row, "bytes_per_second").plus_minus(_bytes)


def _case(row: Row) -> str:
    return row.name.partition("/")[2]


def _fastest(rows: list[Row]) -> str:
    """The transfer of the highest rate, as far as it can be told."""
    rates = {_case(row): counter_of(row, "bytes_per_second") for row in rows}
    # The least time per byte.
    first, rivals = least({name: over(exactly(1), r) for name, r in rates.items()})
    told = f"{first} moves {rates[first].plus_minus(_bytes)}"
    if not rivals:
        return f"The fastest is {first}, at {rates[first].plus_minus(_bytes)}"
    return f"Which is the fastest {CANNOT_TELL}: {told}, {listed(rivals)} may move more"


def _bytes(per_second: float) -> str:
    return text.rate(per_second, "B/s")


def transfer(result: Result) -> tuple[str, text.Table] | None:
    rows = [row for row in result.of("transfer") if row.get("bytes_per_second")]
    if not rows:
        return None
    largest = max(rows, key=lambda row: row["size"])
    sentence = (
        f"{_fastest(rows)}; the largest, {_case(largest)}, {_byte_rate(largest)}."
    )
    lines = [[_case(row), _time(row), _byte_rate(row)] for row in rows]
    return sentence, text.Table(["transfer", "time", "rate"], lines)


def _kept_pages(result: Result) -> str:
    """What it is worth to keep a CPU's memory between calls; "" of a GPU."""
    system = result.of("harness", work="allocate", allocator="system")
    caching = result.of("harness", work="allocate", allocator="caching")
    if not system or not caching:
        return ""
    share = over(time_of(caching[0]), time_of(system[0]))
    size = text.size(system[0]["size"])
    if not (share.high < 1 or share.low > 1):
        return f" Whether kept pages make a tensor of {size} cheaper {CANNOT_TELL}."
    return (
        f" With kept pages it takes {share.text()} of the time to allocate and write a "
        f"tensor of {size}."
    )


def harness(result: Result) -> tuple[str, text.Table] | None:
    empty = result.of("harness", work="empty")
    spins = result.of("harness", work="spin")
    if not empty or not spins:
        return None
    reported = [over(time_of(row), exactly(row["us"])) for row in spins]
    # Of the intervals, not of the medians in them.
    ends = [end for ratio in reported for end in (ratio.low, ratio.high)]
    worst = max(abs(end - 1) for end in ends)
    within = f"are reported within {text.percent(worst)}"
    if not math.isfinite(worst):
        within = f"may be reported well, which {CANNOT_TELL}"
    sentence = (
        f"An empty call costs {_time(empty[0])}, and known durations "
        f"{within}.{_kept_pages(result)}"
    )
    lines = [["empty", "0", _time(empty[0])]]
    lines += [["spin", text.time(row["us"]), _time(row)] for row in spins]
    return sentence, text.Table(["work", "true", "reported"], lines)
