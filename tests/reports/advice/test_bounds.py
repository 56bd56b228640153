# SPDX-License-Identifier: MIT
"""Bounds and headroom, from handmade rows on a device with round rates."""

from typing import Any

from advised import PEAKS, part, whole
from reports.advice.advice import advice
from reports.advice.bounds import bound_of, device_of
from reports.advice.run import Run
from results import parsed

FFN = part(
    *("forward", "ffn", 1000),
    **{"flops": 6e8, "matmul_share": 0.9, "calls": 10},
    **{"compulsory_bytes": 4e6, "pass_bytes": 1e6},
)
NORM = part(
    *("forward", "norm", 500),
    **{"calls": 5, "compulsory_bytes": 2e6, "pass_bytes": 2e6},
)
DISPATCH = part("forward", "dispatch", 80)


def told(*rows: dict[str, Any], **others: Any) -> list[list[str]]:
    headroom = advice(parsed(*rows, **others)).headroom
    assert headroom is not None
    return [list(line) for line in headroom.lines]


def line(name: str, *rows: dict[str, Any], **others: Any) -> list[str]:
    lines = told(*rows, **others)
    (found,) = (cells[1:] for cells in lines if cells[0] == name)
    return found


def test_the_larger_of_flops_and_bytes_is_the_bound() -> None:
    rows = (*PEAKS, FFN, NORM, whole(1580))
    # 6e8 FLOPs take 600 us; 4e6 bytes take 200 us at the rate of an update.
    ffn = line("forward ffn", *rows)
    assert ffn[:3] == ["1 ms", "600 us", "400 us"]
    assert line("forward norm", *rows)[:3] == ["500 us", "100 us", "400 us"]


def test_the_cause_is_the_largest_part() -> None:
    def cause(row: dict[str, Any], **others: Any) -> str:
        name = " ".join(row["name"].split("/")[4:6])
        return line(name, *PEAKS, row, whole(2000), **others)[-1]

    # The ffn's 400 us: 300 are products below the peak's rate, 10 are launches.
    assert cause(FFN) == "low-rate products"
    assert cause(NORM) == "memory passes"
    assert cause(DISPATCH) == "idle gaps"
    small = part("forward", "residual", 100, calls=60, compulsory_bytes=1e3)
    assert cause(small) == "launches"
    # A kernel's time does not include its launch.
    gpu = {"device_kind": "cuda"}
    assert cause(small, context=gpu) == "memory passes"
    flash = part("forward", "fused_attention", 100, flops=1e7, compulsory_bytes=1e3)
    assert cause(flash) == "low-rate products"


def test_a_cache_may_beat_the_memory() -> None:
    cached = part("forward", "rope", 50, compulsory_bytes=2e6, pass_bytes=2e6)
    found = line("forward rope", *PEAKS, cached, whole(50))
    assert found == ["50 us", "100 us", "-", "-", "-"]


def test_phases_and_the_step_are_sums_and_the_largest_is_first() -> None:
    backward = part("backward", "norm", 900, compulsory_bytes=3e6, pass_bytes=3e6)
    lines = told(*PEAKS, DISPATCH, FFN, NORM, backward, whole(2480))
    assert [cells[0] for cells in lines] == [
        *("backward norm", "forward ffn", "forward norm", "forward dispatch"),
        *("forward, all", "backward, all", "step"),
    ]
    by_name = {cells[0]: cells[1:] for cells in lines}
    assert by_name["forward, all"][:3] == ["1.58 ms", "700 us", "880 us"]
    # 750 + 395 us in passes, 300 us in products and 80 us in gaps.
    assert by_name["step"] == [
        *("2.48 ms", "850 us", "1.63 ms", "66 %", "memory passes")
    ]


def test_rows_without_bytes_bound_a_part_of_the_work() -> None:
    old = {k: v for k, v in FFN.items() if not k.endswith("_bytes")}
    norm = {k: v for k, v in NORM.items() if not k.endswith("_bytes")}
    rows = (*PEAKS, old, norm, whole(1500))
    assert line("forward ffn", *rows)[1:3] == ["≥ 600 us", "≤ 400 us"]
    assert line("forward norm", *rows)[1:3] == ["unknown", "≤ 500 us"]
    assert line("step", *rows)[1:3] == ["≥ 600 us", "≤ 900 us"]
    lacks = advice(parsed(*rows)).lacks
    assert "no bytes in the rows of `breakdown`" in lacks[0]


def test_without_a_peak_of_the_precision_products_have_no_bound() -> None:
    result = parsed(*PEAKS[1:], FFN, whole(1000))
    run = Run(result)
    (step,) = run.train_steps
    found = bound_of(step.parts["forward", "ffn"], device_of(run, step))
    assert found.bound_us == 200 and not found.is_whole
    assert (
        "no `peak/matmul` in the step's precision: no bound by FLOPs"
        in advice(result).lacks
    )


def test_the_last_train_step_is_told() -> None:
    inference = FFN | {
        "name": FFN["name"].replace("train_step", "inference"),
        "parameters": FFN["parameters"] | {"mode": "inference"},
    }
    given = advice(parsed(*PEAKS, FFN, whole(1000), inference))
    assert given.headroom is not None
    assert given.headroom.title == "Headroom of tiny fp32 train_step 4 x 128"
