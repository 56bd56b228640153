# SPDX-License-Identifier: MIT
"""The built libraries, preloaded into a process without LibTorch."""

import json
import os
import sys
from pathlib import Path

import pytest

from null_gpu import null_gpu
from processes import Finished, run
from tools.rehearsal.run import GPUS

START = """
from ctypes import *
cuda = CDLL(None)
number, other = c_size_t(), c_size_t()
"""


def call(code: str, status: int, environment: dict[str, str]) -> Finished:
    command = (sys.executable, "-c", START + code)
    variables = os.environ | null_gpu() | environment
    return run(*command, status=status, env=variables)


def printed(code: str, **environment: str) -> str:
    return call(code, 0, environment).stdout.strip()


def test_the_driver_is_found_by_its_name() -> None:
    code = """
driver = CDLL("libcuda.so.1")
assert driver.cuInit(0) == 0
assert driver.cuDriverGetVersion(byref(number)) == 0
found, result = c_void_p(), c_int()
assert cuda.cudaGetDriverEntryPointByVersion(
    b"cuMemCreate", byref(found), 12000, 0, byref(result)) == 0
print(number.value, found.value == cast(driver.cuMemCreate, c_void_p).value)
"""
    assert printed(code) == "13000 True"


def test_a_function_that_nobody_wrote_ends_the_process() -> None:
    done = call("cuda.cusolverDnCreate(None)", -6, {})
    assert "null GPU: cusolverDnCreate was called" in done.stderr


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("TRAINBENCH_NULL_GPU_EXCLUSIVE", "yes", "is not from 0 to 1"),
        ("TRAINBENCH_NULL_GPU", "h999", f"is none of {' '.join(GPUS)} t4"),
        ("TRAINBENCH_NULL_GPU_COUNT", "0", "is not from 1 to 16"),
        ("TRAINBENCH_NULL_GPU_FAULT", "mallok:1", 'unknown call in "mallok:1"'),
    ],
)
def test_a_variable_that_makes_no_sense_ends_it(
    variable: str, value: str, said: str
) -> None:
    done = call("cuda.cudaFree(None)", -6, {variable: value})
    assert said in done.stderr


def test_each_process_that_used_a_gpu_reports_once(tmp_path: Path) -> None:
    file = tmp_path / "report.jsonl"
    report = {"TRAINBENCH_NULL_GPU_REPORT": str(file)}
    run("true", env=os.environ | null_gpu() | report)
    assert not file.exists()
    for _ in range(2):
        printed("cuda.cudaMalloc(byref(number), 9)", **report)
    reports = [json.loads(line) for line in file.read_text().splitlines()]
    assert [r["counters"]["allocations"] for r in reports] == [1, 1]
    assert [r["calls"]["cudaMalloc"] for r in reports] == [1, 1]
    assert len({r["pid"] for r in reports}) == 2
