# SPDX-License-Identifier: MIT
"""The built programs start on a machine without an NVIDIA driver."""

import re
import shutil
import subprocess

import pytest

import checks
from built import built


def needed(variable: str) -> list[str]:
    readelf = shutil.which("readelf")
    if readelf is None:
        pytest.skip("readelf is not installed")
    command = [readelf, "--dynamic", str(built(variable))]
    text = subprocess.check_output(command, text=True)
    found: list[str] = re.findall(r"\(NEEDED\).*\[(.+)\]", text)
    return found


def has_cuda() -> bool:
    commands = (built("TRAINBENCH_BUILD") / "compile_commands.json").read_text()
    return "-DTRAINBENCH_CUDA=1" in commands


@pytest.mark.parametrize(
    "variable", ["TRAINBENCH_BINARY", "TRAINBENCH_FAULTS", "TRAINBENCH_PLAN"]
)
def test_no_program_needs_the_driver(variable: str) -> None:
    libraries = needed(variable)
    assert libraries
    assert [n for n in libraries if re.match(r"lib(cuda|nvidia-ml)\.so", n)] == []


def test_the_program_loads_the_cuda_half_of_torch_if_built_for_it() -> None:
    libraries = needed("TRAINBENCH_BINARY")
    assert ("libtorch_cuda.so" in libraries) == has_cuda()


def test_newer_gpus_find_ptx_to_compile() -> None:
    found = checks.gpu_code(built("TRAINBENCH_BINARY").read_bytes())
    expected = {"sm_80", "sm_90", "compute_90"} if has_cuda() else set()
    assert found == expected
