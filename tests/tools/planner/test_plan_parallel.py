# SPDX-License-Identifier: MIT
"""tools/plan --parallel."""

import json
import math
import re
from typing import Any

import pytest

import plan_program
from plan_program import check_usage_error, needs_plan, run

pytestmark = needs_plan

UNITS = {
    **{"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12},
    **{"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40},
    **{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1},
    **{"devices": 1, "tokens": 1, "params": 1},
}


def plan(*flags: str) -> str:
    return plan_program.plan("--parallel", *flags)


def rows(*flags: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(plan("--json", *flags))["rows"]
    return found


def values(*flags: str) -> dict[str, Any]:
    """Raw values by "group.name"."""
    found = rows(*flags)
    named = {f"{row['group']}.{row['name']}": row["value"] for row in found}
    assert len(named) == len(found)
    return named


def table(text: str) -> list[list[str]]:
    """what, value and formula of each row."""
    return [
        re.split(r"  +", line.strip())
        for line in text.splitlines()
        if line.startswith("  ") and "  " in line.strip()
    ]


def test_memory_of_the_assignment() -> None:
    memory = values()
    assert memory["memory.params"] == 219_848_638_464
    assert memory["memory.state_bytes"] == 16 * 219_848_638_464
    assert memory["memory.saved_bytes_per_token"] == 17_547_264
    assert memory["memory.fsdp_state_devices"] == 38


def test_the_unit_trap_is_shown() -> None:
    found = values()
    assert (found["memory.decimal_gpus"], found["memory.binary_gpus"]) == (44, 41)
    text = plan()
    assert "3517.6 GB = 3276.0 GiB" in text
    assert re.search(r"GPUs of 80 GB, if GB is 10\^9 +44 devices", text)
    assert re.search(r"GPUs of 80 GB, if GB is 2\^30 +41 devices", text)
    assert "GB is 10^9 bytes and GiB 2^30" in text


def test_batch_of_the_assignment() -> None:
    batch = {name: value for name, value in values().items() if "batch." in name}
    assert batch["batch.tensor_bound_devices"] == pytest.approx(20.8, abs=0.05)
    assert math.floor(batch["batch.overlapped_tokens"]) == 20_444
    assert math.floor(batch["batch.overlapped_tokens_per_device"]) == 319
    assert math.floor(batch["batch.serial_tokens"]) == 25_301
    assert math.floor(batch["batch.serial_tokens_per_device"]) == 395
    for name in ("more_tensor", "half_width", "two_stages"):
        assert batch[f"batch.{name}_tokens"] < batch["batch.overlapped_tokens"]


def test_buckets_of_the_assignment() -> None:
    found = values()
    assert round(found["buckets/h100_nvlink.bucket_bytes"] / 1e6) == 276
    assert round(found["buckets/a100_pcie.bucket_bytes"] / 1e6) == 89


def test_bounds_of_the_assignment() -> None:
    found = values("--tokens=65536", "--device_tflops=989", "--link_gb_per_s=450")
    ratio = 450e9 / 989e12
    expected = {
        "data_backward_devices": 1 + 65536 * ratio,
        "fsdp_forward_devices": 1 + 65536 * ratio,
        "fsdp_backward_devices": 1 + 65536 * ratio,
        "tensor_forward_devices": 1 + 1.5 * 53248 * ratio,
        "tensor_backward_devices": 1 + 3 * 53248 * ratio,
        "mesh_overlapped_limit_devices": 1.5 * 65536 * 53248 * ratio**2,
        "mesh_serial_limit_devices": 0.375 * 65536 * 53248 * ratio**2,
    }
    for name, value in expected.items():
        assert found[f"bounds.{name}"] == pytest.approx(value), name
    assert (
        found["bounds.mesh_serial_limit_devices"]
        < found["bounds.mesh_serial_devices"]
        < found["bounds.mesh_overlapped_devices"]
    )


@pytest.mark.parametrize("ranks", [1, 2, 6])
def test_what_a_rank_sends(ranks: int) -> None:
    found = values(f"--ranks={ranks}", "--gradient_gb=6")
    share = (ranks - 1) / ranks
    ring, alternate = 12e9 * share, 6e9 * (ranks - 1)
    assert found["all_reduce.ring_bytes"] == pytest.approx(ring)
    assert found["all_reduce.ring_seconds"] == pytest.approx(ring / 180e9)
    assert found["all_reduce.alternate_ring_bytes"] == alternate
    assert found["all_reduce.alternate_ring_seconds"] == alternate / 180e9
    assert found["all_reduce.bus_bandwidth_factor"] == 2 * share
    assert found["optimizer.replicated_bytes"] == pytest.approx(12e9 * share)
    assert found["optimizer.sharded_bytes"] == pytest.approx(12e9 * share)
    assert found["optimizer.broadcast_bytes"] == pytest.approx(18e9 * share)


# Each flag, and a row whose value must change with it.
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
    query = json.loads(plan("--json", flag))["query"]
    assert str(query[key]) == value
    assert f"--{key}" in run("--help").stdout


def in_base_units(text: str) -> float:
    number, _, unit = text.replace(",", "").partition(" ")
    return float(number) * UNITS[unit or "B"]


@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("--ranks=1",),
        ("--gradient_gb=1e-6", "--links=slow:1e-6:1e9"),
        ("--tokens=1099511627776", "--link_gb_per_s=1e9", "--device_tflops=1e-6"),
        (
            *("--blocks=1048576", "--d_model=1048576", "--d_ff=1048576"),
            *("--tensor_ranks=1048576", "--fsdp_ranks=1048576", "--saved_tokens=0"),
        ),
    ],
    ids=" ".join,
)
def test_text_has_the_numbers_of_the_json(flags: tuple[str, ...]) -> None:
    text, raw = table(plan(*flags)), rows(*flags)
    assert [cells[0] for cells in text] == [row["what"] for row in raw]
    for (_, value, formula), row in zip(text, raw, strict=True):
        if row["value"] is None:
            assert value == "none"
            assert formula == f"{row['formula']}; {row['reason']}"
            continue
        assert formula == row["formula"]
        for part in value.split(" = "):  # GB = GiB
            expected = pytest.approx(row["value"], rel=0.006, abs=0.05)
            if row["unit"] == "seconds":
                expected = pytest.approx(row["value"], rel=0.006)
            assert in_base_units(part) == expected, row["name"]


@pytest.mark.parametrize("flags", [(), ("--tensor_ranks=21", "--saved_tokens=20000")])
def test_text_fits_140_columns(flags: tuple[str, ...]) -> None:
    assert max(map(len, plan(*flags).splitlines())) <= 140


def test_one_bucket_is_the_least() -> None:
    found = values("--gradient_gb=0.001", "--links=slow:20:1000")
    assert found["buckets/slow.buckets"] == 1
    assert found["buckets/slow.bucket_bytes"] == 1_000_000


def test_no_batch_is_large_enough() -> None:
    flags = ("--tensor_ranks=21", "--saved_tokens=20000")
    found = values(*flags)
    assert found["batch.overlapped_tokens"] is None
    assert found["batch.serial_tokens_per_device"] is None
    assert "no batch does: Y >= Y0" in plan(*flags)


def test_activations_that_do_not_fit() -> None:
    flags = ("--tensor_ranks=21", "--saved_tokens=20000")
    found = values(*flags)
    assert found["memory.fsdp_devices"] is None
    assert found["memory.fsdp_device_bytes"] is None
    assert found["memory.fsdp_state_devices"] == 38
    assert "no N does: A n / 2 >= M" in plan(*flags)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        *(
            ([f"--{flag}={value}"], [f"{flag} is {value}", f"allowed: {allowed}"])
            for flag, value, allowed in [
                ("tokens", "0", "1 to 1099511627776"),
                ("d_ff", "1048577", "1 to 1048576"),
                ("state_bytes_per_param", "nan", "0.125 to 1024"),
                ("link_gb_per_s", "-180", "1e-06 to 1e+09"),
                ("tensor_ranks", "-4", "1 to 1048576"),
                ("fsdp_device_gb", "1e+300", "1e-06 to 1e+09"),
                ("saved_tokens", "-1", "0 to 1099511627776"),
                ("gradient_gb", "-inf", "1e-06 to 1e+09"),
            ]
        ),
        (["--tokens=4.5"], ["--tokens", "'4.5'", "whole number"]),
        (["--gpu_gb=80GB"], ["--gpu_gb", "'80GB'", "a number"]),
        (["--links="], ["links has ''", "NAME:GB_PER_S:US"]),
        (["--links=a:1"], ["links has 'a:1'", "NAME:GB_PER_S:US"]),
        (["--links=a:1:2,"], ["links has ''", "NAME:GB_PER_S:US"]),
        (["--links=a b:1:2"], ["links has 'a b:1:2'", "NAME:GB_PER_S:US"]),
        (["--links=a:x:2"], ["links has 'a:x:2'", "NAME:GB_PER_S:US"]),
        (["--links=a:0:2"], ["'a:0:2'", "GB_PER_S is 0", "1e-06 to 1e+09"]),
        (["--links=a:1:nan"], ["'a:1:nan'", "US is nan", "1e-06 to 1e+09"]),
        (["--links=a:1:2,a:3:4"], ["links has 'a' twice", "once"]),
        (["--batch=8"], ["'--batch' is '8'", "without --parallel"]),
        (["--models=xl"], ["'--models' is 'xl'", "without --parallel"]),
        (["--noparallel", "--ranks=8"], ["--parallel", "twice"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_bad_usage(flags: list[str], words: list[str]) -> None:
    check_usage_error(run("--parallel", *flags), words)


def test_flags_of_parallel_need_it() -> None:
    check_usage_error(run("--ranks=8"), ["'--ranks' is '8'", "with --parallel"])


def test_a_flag_at_its_default_is_of_any_mode() -> None:
    assert plan("--batch=4") == plan()
    tiny = "--models=tiny"
    assert plan_program.plan("--ranks=4", tiny) == plan_program.plan(tiny)
