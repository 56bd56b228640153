# SPDX-License-Identifier: MIT
"""A GPU that cannot be used is said before anything runs, from a driver made here."""

import shutil
import subprocess
from pathlib import Path

import pytest

from program import NANO_FORWARD, Finished, Program

LINES = {
    "12.4": "the NVIDIA driver is for CUDA 12.4, LibTorch needs 13.0: "
    "install the NVIDIA driver 580 or a later one",
    "13.0": "the NVIDIA driver does not start (CUDA_ERROR_SYSTEM_NOT_READY): "
    "nvidia-smi says more",
}


def run(program: Program, tmp_path: Path, version: str, device: str) -> Finished:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    major, minor = version.split(".")
    source = f"""
        int cuDriverGetVersion(int* v) {{ *v = {major}0{minor}0; return 0; }}
        int cuInit(unsigned flags) {{ return 802; }}
        int cuGetErrorName(int error, const char** name) {{
          *name = "CUDA_ERROR_SYSTEM_NOT_READY";
          return 0;
        }}"""
    library = tmp_path / "libcuda.so.1"
    command = [compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
    subprocess.run(command, input=source, text=True, check=True)
    return program.run(
        *NANO_FORWARD,
        f"--device={device}",
        env={"LD_LIBRARY_PATH": str(tmp_path)},
    )


@pytest.mark.parametrize("version", LINES)
def test_auto_says_why_it_takes_the_cpu(
    trainbench: Program, tmp_path: Path, version: str
) -> None:
    done = run(trainbench, tmp_path, version, "auto")
    assert done.code == 0, done.err
    assert done.err.splitlines()[0] == f"trainbench: no GPU is used: {LINES[version]}"
    assert "1 measured" in done.out


@pytest.mark.parametrize("version", LINES)
def test_cuda_is_refused_with_the_same_reason(
    trainbench: Program, tmp_path: Path, version: str
) -> None:
    done = run(trainbench, tmp_path, version, "cuda")
    assert done.code == 2
    reason = "--device is cuda, but there is no usable GPU here"
    assert done.err == (
        f"trainbench: {reason}: {LINES[version]}; allowed here: auto, cpu\n"
    )


def test_cpu_asks_no_driver(trainbench: Program, tmp_path: Path) -> None:
    done = run(trainbench, tmp_path, "12.4", "cpu")
    assert done.code == 0, done.err
    assert "no GPU is used" not in done.err
