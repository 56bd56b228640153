# SPDX-License-Identifier: MIT
"""tools/planner/timing: what the committed predictions (test_validate_time.py) do not
show of the rates of devices, and of steps timed with them."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plan_program import ask
from reports.results.result_file import load
from results import REFERENCE
from tools.planner.recipes import Job, read_table
from tools.planner.timing import TABLE
from tools.planner.timing.rates import Device, Shares, devices, of_result
from tools.planner.timing.step import StepTime, TimedJob, step_time
from tools.rehearsal.run import GPUS

PROFILES = Path(__file__).parents[3] / "tools/null_gpu/core/profile.h"
# At the peak, 1 FLOP or byte takes 1 us; a host operator takes no time.
ONE = Device(
    "one",
    {name: 1e6 for name in ("bf16", "memory", "attention", "nvlink", "network")},
    {"bf16": Shares(np.array([[1.0, 1.0]] * 5), np.full(5, 0.5))},
    {"add": (0.8, 1.0, 1.0), "mlp_act": (0.5, 1.0, 2.0), "input_layernorm": (1, 1, 1)},
    capacity=1,
    operator_us=0,
)
CPU = replace(ONE, peaks={**ONE.peaks, "read": 0.5e6}, is_host=True)
JOB = TimedJob("d_model=4", batch=2, seq=3)
CALLS = {
    ("aten::mm", "forward"): (1, 10, 4),
    ("aten::add", "forward"): (3, 0, 2),
    ("aten::view", "forward"): (9, 0, 0),
    ("aten::exp", "loss"): (1, 0, 5),
    ("aten::mm", "backward"): (2, 10, 4),
    ("aten::_fused_adamw_", "optimizer"): (1, 0, 28),
}


def row(
    calls: dict[tuple[str, str], tuple[int, int, int]], **more: Any
) -> dict[str, Any]:
    return {
        **{"precision": "bf16_autocast", "implementation": "textbook"},
        "mode": "train_step",
        **{"layers": 5, "d_model": 4, "params": 1000, "checkpoint": "none"},
        **{"flops": 100, "flops_by_component": {"lm_head": 20}},
        "operators": [
            dict(zip(("calls", "flops", "bytes"), counts, strict=True))
            | {"operator": name, "phase": phase, "component": "norm"}
            for (name, phase), counts in calls.items()
        ],
        **more,
    }


def timed(device: Device = ONE, job: TimedJob = JOB, **more: Any) -> StepTime:
    return step_time(device, job, lambda _: row(CALLS, **more))


def test_fused_attention_is_never_faster_than_the_peak_of_products() -> None:
    slow = replace(ONE, peaks={**ONE.peaks, "bf16": 1e5})
    calls = {("own_attention", "forward"): (1, 85, 1)}
    found = step_time(slow, replace(JOB, seq=300), lambda _: row(calls))
    assert found.parts["attention"] == pytest.approx(425)


def test_recomputed_attention_is_as_fast_as_in_the_forward_pass() -> None:
    names = ("attention", "attention_backward")
    calls = {(name, "backward"): (1, 85, 1) for name in names}
    found = step_time(ONE, replace(JOB, seq=300), lambda _: row(calls))
    assert found.parts["attention"] == pytest.approx(85 + 100)


def test_a_slow_host_is_waited_for() -> None:
    slow = replace(ONE, operator_us=20)
    # The forward pass has five operators, the backward pass two products.
    assert timed(slow).parts["host"] == (5 * 20 - 31) + (28 - 28)
    # A CPU computes nothing meanwhile, and views take its time, too.
    assert timed(replace(CPU, operator_us=20)).parts["host"] == (5 + 9 + 2) * 20


def test_a_cpu_reads_the_operands_of_a_product_from_memory() -> None:
    assert ONE.product_us(10, 4, "bf16") == 20
    assert CPU.product_us(10, 4, "bf16") == 20 + 8


def test_recomputed_attention_sends_nothing() -> None:
    sent = {
        kind: timed(job=replace(JOB, tensor=2), checkpoint=kind).parts["tensor ranks"]
        for kind in ("none", "attention", "every_1")
    }
    assert sent["attention"] == sent["none"] == sent["every_1"] / 1.5


def test_each_micro_batch_gathers_sharded_parameters() -> None:
    job = replace(JOB, data=2, shards_parameters=True, micro_batches=3)
    forward, backward = 30 + 2000 / 2 - 31, 30 + 2 * 2000 / 2 - 40
    assert timed(job=job).parts["data ranks"] == 3 * (forward + backward)
    # Under autocast whole gradients have the type of the weights, fp32.
    whole = timed(job=replace(JOB, data=2)).parts["data ranks"]
    assert whole == 30 + 2 * 4000 / 2 - 40


def test_every_device_has_all_rates_with_a_source() -> None:
    rates = {"bf16", "tf32", "fp32", "memory", "attention", "nvlink", "network"}
    for device in devices().values():
        assert rates <= device.peaks.keys() and (device.capacity or 0) > 23 * 2**30
        assert all(0.2 < shares[1] <= 1 for shares in device.memory.values())
    assert all(line["source"] for line in read_table(TABLE))
    with pytest.raises(ValueError, match="h100 has no rate of fp8; it has"):
        devices()["h100"].peak("fp8")


def test_a_device_has_the_memory_of_its_null_gpu() -> None:
    profiles = PROFILES.read_text("utf-8")
    for gpu in GPUS:
        gib = (devices()[gpu].capacity or 0) / 2**30
        assert re.search(rf'"{gpu}", ".*", Gib\({gib}\)', profiles), gpu


def test_a_result_has_the_rates_of_its_cpu() -> None:
    result = load(REFERENCE)
    cpu = of_result(result)
    (row,) = (
        row
        for row in result.of("peak")
        if row.name.endswith("bf16/m:512/n:3072/k:3072")
    )
    us = cpu.product_us(row["flops"], row["bytes"], "bf16")
    assert us == pytest.approx(row.time_us, rel=0.1)
    assert cpu.peak("memory") == max(
        row["bytes_per_second"]
        for row in result.of("peak")
        if row.name.startswith("peak/stream")
    )
    assert cpu.ends("attention", "fp32") == cpu.shares["fp32"].ends
    assert cpu.is_host and 0.5 < cpu.operator_us < 5
    lacks = re.escape(f"the full run on {result.context['device']} lacks rows of peak")
    with pytest.raises(ValueError, match=lacks):
        of_result(replace(result, rows=[]))
    few = [row for row in result.rows if "/linear/" not in row.name]
    with pytest.raises(ValueError, match=r"only \d products of fp32; allowed: a full"):
        of_result(replace(result, rows=few))
    with pytest.raises(ValueError, match="fit into caches; allowed: a full run"):
        of_result(replace(result, context=result.context | {"suite": "smoke"}))
    unstated = {k: v for k, v in result.context.items() if k != "memory_bytes"}
    assert of_result(replace(result, context=unstated)).capacity is None


def test_operators_have_the_work_of_the_step() -> None:
    def planned(implementation: str) -> dict[str, Any]:
        model = "d_model=128,d_ff=512,layers=2,heads=4"
        job = Job(f"{model},implementation={implementation}", 4, 64, precision="fp32")
        return ask(job.request())

    written = planned("textbook")
    assert written["fits"] is written["largest_seq"] is written["largest_batch"] is None
    products = (one["calls"] * one["flops"] for one in written["operators"])
    assert sum(products) == written["flops"]
    fused = planned("fused")
    names = {one["operator"] for one in fused["operators"]}
    assert {"trainbench::attention", "trainbench::attention_backward"} <= names
    update = [one for one in fused["operators"] if one["phase"] == "optimizer"]
    bytes_ = sum(one["calls"] * one["bytes"] for one in update)
    assert bytes_ == pytest.approx(28 * fused["params"], rel=0.01)
