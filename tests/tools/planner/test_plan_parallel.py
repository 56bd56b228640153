# SPDX-License-Identifier: MIT
"""tools/plan --parallel."""

import math
import re
from typing import Any

import pytest

import plan_program
from golden import check_golden, refusals
from plan_program import ask, check_usage_error, plan_json, run
from tools.planner.formulas import evaluate
from tools.planner.main import main

JOB = {"B": 2**20, "D": 16384, "F": 53248, "m": 3, "b": 2, "C": 4.6e14, "W": 1.8e11}
TOO_LARGE = ("--tensor_ranks=21", "--saved_tokens=20000")


def plan(*flags: str) -> str:
    return plan_program.plan("--parallel", *flags)


def rows(*flags: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = plan_json("--parallel", *flags)["rows"]
    return found


def values(*flags: str) -> dict[str, Any]:
    """Returns raw values by "group.name"."""
    found = rows(*flags)
    named = {f"{row['group']}.{row['name']}": row["value"] for row in found}
    assert len(named) == len(found)
    return named


# Each flag, and a row with a value that must change with it.
@pytest.mark.parametrize(
    ("flag", "name"),
    [
        ("--tokens=1000", "bounds.data_backward_devices"),
        ("--d_model=8192", "memory.params"),
        ("--d_ff=8192", "bounds.tensor_forward_devices"),
        ("--ffn_matrices=2", "bounds.tensor_forward_devices"),
        ("--blocks=12", "memory.params"),
        ("--state_bytes_per_param=12", "memory.state_bytes"),
        ("--value_bytes=1", "batch.overlapped_tokens"),
        ("--value_bytes=4", "bounds.fsdp_forward_devices"),
        ("--device_tflops=100", "batch.overlapped_tokens"),
        ("--link_gb_per_s=90", "all_reduce.ring_seconds"),
        ("--fsdp_ranks=8", "batch.overlapped_tokens"),
        ("--tensor_ranks=8", "batch.serial_tokens"),
        ("--fsdp_axes=1", "batch.overlapped_tokens"),
        ("--tensor_axes=2", "batch.tensor_bound_devices"),
        ("--gpu_gb=141", "memory.decimal_gpus"),
        ("--fsdp_device_gb=141", "memory.fsdp_state_devices"),
        ("--saved_tokens=4096", "memory.fsdp_devices"),
        ("--ranks=2", "optimizer.broadcast_bytes"),
        ("--gradient_gb=1", "buckets/a100_pcie.bucket_bytes"),
        ("--links=a100_pcie:10:50", "buckets/a100_pcie.bucket_bytes"),
    ],
)
def test_every_flag_counts(flag: str, name: str) -> None:
    assert values(flag)[name] != values()[name]
    key, value = flag.removeprefix("--").split("=")
    assert str(plan_json("--parallel", flag)["query"][key]) == value
    assert f"--{key}" in run("--parallel", "--help").stdout


def test_the_text_of_each_kind_of_job() -> None:
    largest = ("--blocks=1048576", "--d_model=1048576", "--d_ff=1048576")
    printed = {
        "the assignment": plan(),
        "rows without a value": plan(*TOO_LARGE),
        "the largest model": plan(*largest, "--saved_tokens=0"),
    }
    check_golden("plan_parallel.txt", printed)
    for text in (printed["the assignment"], printed["rows without a value"]):
        assert max(map(len, text.splitlines())) <= 140


def test_one_bucket_is_the_least() -> None:
    found = values("--gradient_gb=0.001", "--links=slow:20:1000")
    assert found["buckets/slow.buckets"] == 1
    assert found["buckets/slow.bucket_bytes"] == 1_000_000


# A data-parallel forward pass sends nothing.
@pytest.mark.parametrize(
    ("ranks", "passes"),
    [("data", 2), ("fsdp", 1), ("fsdp", 2), ("tensor", 1), ("tensor", 2)],
)
def test_one_device_more_than_the_bound_waits(ranks: str, passes: int) -> None:
    direction = "backward" if passes == 2 else "forward"
    bound = math.floor(values()[f"bounds.{ranks}_{direction}_devices"])
    sent = "2 b B D" if ranks == "tensor" else f"{passes} b m D F"

    def waits(devices: int) -> bool:
        names = JOB | {"N": devices}
        compute = evaluate(f"{passes} 2 m B D F / (N C)", names)
        return evaluate(f"{sent} (N - 1) / (N W)", names) > compute

    assert not waits(bound) and waits(bound + 1)


@pytest.mark.parametrize("tokens", [2**20, 2048, 100])  # few leave little for FSDP
@pytest.mark.parametrize("kind", ["overlapped", "serial"])
def test_no_mesh_of_whole_numbers_has_more_devices(tokens: int, kind: str) -> None:
    d, f, m, b, c, w = (JOB[name] for name in "DFmbCW")

    def is_compute_bound(x: float, y: float, slack: float = 0) -> bool:
        gather = b * m * d * f * (x - 1) / (x * y * w)
        reduce = 2 * b * tokens * d * (y - 1) / (x * y * w)
        sent = max(gather, reduce) if kind == "overlapped" else gather + reduce
        return sent <= (1 + slack) * 2 * m * tokens * d * f / (x * y * c)

    found = next(
        row
        for row in rows(f"--tokens={tokens}")
        if row["name"] == f"mesh_{kind}_devices"
    )
    x, y = map(float, re.findall(r"= ([\d.]+)", found["what"]))
    most = max(
        i * j for i in range(1, 500) for j in range(1, 40) if is_compute_bound(i, j)
    )
    # Rounding to whole numbers loses less than one device per dimension.
    assert math.floor(x) * math.floor(y) <= most <= found["value"]
    assert is_compute_bound(x, y, 0.02) and not is_compute_bound(1.1 * x, 1.1 * y)


def test_on_fast_links_the_largest_mesh_reaches_its_limit() -> None:
    found = values("--link_gb_per_s=1e9")
    for kind in ("overlapped", "serial"):
        limit = found[f"bounds.mesh_{kind}_limit_devices"]
        assert found[f"bounds.mesh_{kind}_devices"] == pytest.approx(limit, rel=1e-3)


def test_below_a_devices_memory_means_below() -> None:
    # 4000 bytes on 4 devices are 1000 bytes each, which is not below 1000.
    flags = ("--d_model=10", "--d_ff=25", "--blocks=1", "--state_bytes_per_param=8")
    found = values(*flags, "--fsdp_device_gb=1e-6")
    assert found["memory.fsdp_state_devices"] == 5


@pytest.mark.parametrize("saved", [0, 1, 2048, 10_000])
def test_one_device_less_does_not_fit(saved: int) -> None:
    found = values(f"--saved_tokens={saved}")
    state, per_token = 16 * 219_848_638_464, 17_547_264

    def needs(devices: float) -> float:
        half = per_token * saved / 2
        return (state + half) / devices + half

    devices = found["memory.fsdp_devices"]
    assert needs(devices) == found["memory.fsdp_device_bytes"] < 95e9
    assert needs(devices - 1) >= 95e9


@pytest.mark.parametrize("kind", ["overlapped", "serial"])
def test_one_token_more_is_compute_bound(kind: str) -> None:
    bound = math.floor(values()[f"batch.{kind}_tokens"])

    def is_compute_bound(tokens: int) -> bool:
        names = JOB | {"B": tokens, "X": 16, "Y": 4}
        weights = evaluate("2 b D F / (Y W 2)", names)
        activations = evaluate("2 b B D / (X W 1)", names)
        both = max(weights, activations)
        sent = both if kind == "overlapped" else weights + activations
        return evaluate("4 B D F / (X Y C)", names) > sent

    assert not is_compute_bound(bound) and is_compute_bound(bound + 1)


def test_what_cannot_be_lowered_says_why() -> None:
    found = {row["name"]: row for row in rows("--fsdp_ranks=1", "--tensor_ranks=16")}
    assert found["two_stages_tokens"]["reason"] == "none if X < 2"
    assert found["more_tensor_tokens"]["reason"] == "none if y <= Y"


WRONG = """
    --tokens=0; --tokens=4.5; --d_ff=1048577; --state_bytes_per_param=nan;
    --link_gb_per_s=-180; --tensor_ranks=-4; --fsdp_device_gb=1e+300;
    --saved_tokens=-1; --gradient_gb=-inf; --gpu_gb=80GB; --links=; --links=a:1;
    --links=a:1:2,; --links=a:x:2; --links=a:0:2; --links=a:1:nan;
    --links=a:1:2,a:3:4; --ranks=4 --ranks=8; --d_fff=8; --models=xl;
    --checkpoint=none; 8"""


def test_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    said = refusals(lambda flags: main(["--parallel", *flags], ask), WRONG, capsys)
    check_golden("errors/plan_parallel.txt", said)
    spaced = run("--parallel", "--links=a b:1:2")
    check_usage_error(spaced, ["--links: it has 'a b:1:2'", "NAME:GB_PER_S:US"])
