# SPDX-License-Identifier: MIT
"""The answers about rates, the timer and rounding, from rows made by hand."""

from typing import Any

from answered import answered
from results import entry


def moved(size: int, rate: float, half_width: float = 0.01) -> dict[str, Any]:
    return entry(
        f"transfer/memcpy/size:{size}",
        1e6 / size,
        "direction=memcpy",
        size=size,
        bytes_per_second=rate,
        half_width=half_width,
    )


def test_transfer_names_the_fastest_and_the_largest() -> None:
    sentence, _ = answered("transfer", moved(64, 5e9), moved(4096, 2e9))
    assert sentence == (
        "The fastest is memcpy/size:64, at 5 GB/s ± 1 %; the largest, "
        "memcpy/size:4096, 2 GB/s ± 1 %."
    )


def test_times_and_rates_have_their_intervals() -> None:
    _, table = answered("transfer", moved(64, 5e9), moved(4096, 2e9, 0.2))
    assert "| memcpy/size:4096 | 244 us ± 20 % | 2 GB/s ± 20 % |" in table
    _, table = answered("harness", *spun(101, 0.01))
    assert "| empty | 0 | 100 ns |\n| spin | 100 us | 101 us ± 1 % |" in table
    sentence, table = answered(
        "peak",
        peak("matmul/fp32/m:1/n:1/k:1", "matmul", flops_per_second=2e11),
        peak("copy/size:8", "copy", bytes_per_second=1e10),
        peak("update/size:8", "update", bytes_per_second=2e10),
        peak("op_overhead/ops:1000", "op_overhead", op_us=4),
    )
    assert sentence == (
        "200 GFLOP/s ± 3 % (matmul/fp32/m:1/n:1/k:1), 10 GB/s ± 3 % (copy/size:8), "
        "20 GB/s ± 3 % (update/size:8), and 4 us ± 3 % for an operation on one element."
    )
    assert "| copy/size:8 | 1 ms ± 3 % | - | 10 GB/s ± 3 % |" in table


def test_noise_alone_makes_no_transfer_the_fastest() -> None:
    sentence, _ = answered("transfer", moved(64, 5e9, 0.2), moved(4096, 4.9e9))
    assert sentence.startswith(
        "Which is the fastest cannot be told from this run: memcpy/size:64 moves 5 "
        "GB/s ± 20 %, memcpy/size:4096 may move more;"
    )


def peak(name: str, work: str, **counters: float) -> dict[str, Any]:
    words = f"work={work} precision=fp32"
    return entry(f"peak/{name}", 1000, words, half_width=0.03, **counters)


def spun(us: float, half_width: float | None) -> list[dict[str, Any]]:
    known = {} if half_width is None else {"half_width": half_width}
    return [
        entry("harness/empty", 0.1, "work=empty"),
        entry("harness/spin/us:100", us, "work=spin", us=100, **known),
    ]


def test_the_timer_is_as_accurate_as_its_interval() -> None:
    sentence, _ = answered("harness", *spun(101, 0.01))
    assert sentence.endswith("known durations are reported within 2 %.")
    sentence, _ = answered("harness", *spun(101, None))
    assert sentence.endswith("which cannot be told from this run.")


def test_what_kept_pages_are_worth_is_told_if_the_intervals_allow_it() -> None:
    def allocated(allocator: str, us: float, half_width: float) -> dict[str, Any]:
        return entry(
            f"harness/allocate/{allocator}/size:67108864",
            us,
            f"work=allocate allocator={allocator}",
            size=67108864,
            p50_us=us,
            half_width=half_width,
        )

    rows = (*spun(101, 0.01), allocated("system", 20000, 0.02))
    sentence, _ = answered("harness", *rows, allocated("caching", 5000, 0.02))
    assert sentence.endswith(
        " With kept pages it takes 0.25 (0.243 to 0.257) of the time to allocate and "
        "write a tensor of 64 MiB."
    )
    sentence, _ = answered("harness", *rows, allocated("caching", 19000, 0.2))
    assert sentence.endswith("cheaper cannot be told from this run.")
    sentence, _ = answered("harness", *rows)
    assert "kept pages" not in sentence


def test_words_about_the_times_are_no_dtypes() -> None:
    label = (
        "autocast=bf16 | parameters=fp32, gradients=fp32, logits=bf16, loss=fp32, "
        "noisy=3 % of the time stolen, overhead=3 %"
    )
    row = entry("autocast_dtypes/bf16", 5, label)
    _, table = answered("autocast_dtypes", row)
    assert table.splitlines()[0] == (
        "| autocast | parameters | gradients | logits | loss |"
    )


def summed(dtypes: str, error: float) -> dict[str, Any]:
    return entry(
        f"accumulation/{dtypes}",
        5,
        f"dtypes={dtypes}",
        sum=10 - 10 * error,
        relative_error=error,
    )


def test_the_accumulator_is_said_to_matter_only_where_it_does() -> None:
    wide = (summed("fp32_plus_fp32", 1e-5), summed("fp32_plus_fp16", 2e-4))
    sentence, _ = answered("accumulation", *wide, summed("fp16_plus_fp16", 5e-3))
    assert "every fp32 accumulator is off by at most 0.02 %" in sentence
    assert "every 16-bit one by at least 0.5 %" in sentence
    sentence, _ = answered("accumulation", *wide, summed("fp16_plus_fp16", 1e-4))
    assert "every" not in sentence


def normed(magnitude: int, overflowed: int) -> dict[str, Any]:
    return entry(
        f"norm_precision/rms_norm/fp16/low/magnitude:{magnitude}",
        5,
        "norm=rms_norm dtype=fp16 internals=low",
        magnitude=magnitude,
        overflowed=overflowed,
        relative_error=1.0 if overflowed else 2e-4,
    )


def widened() -> dict[str, Any]:
    return entry(
        "norm_precision/rms_norm/fp16/wide/magnitude:1",
        5,
        "norm=rms_norm dtype=fp16 internals=wide",
        magnitude=1,
        overflowed=0,
        relative_error=2e-4,
    )


def test_the_onset_of_overflow_is_only_bracketed() -> None:
    sentence, _ = answered("norm_precision", normed(1, 0), normed(100, 1), widened())
    assert sentence == (
        "rms_norm with fp16 internals overflows at magnitude 100 and not at 1; where "
        "between them it begins is not measured; with fp32 internals the error stays "
        "at 0.0002 or less."
    )
    sentence, _ = answered("norm_precision", normed(100, 1), widened())
    assert "overflows at magnitude 100, the least measured;" in sentence
