# SPDX-License-Identifier: MIT
"""Errors of the whole program that tests/fixtures/app/program_test.cc does not cause:
files that cannot grow, and a GPU that cannot be used."""

import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from processes import Finished
from program import NANO_FORWARD, OUT, Program


def test_a_full_disk_is_status_1_and_one_line(trainbench: Program) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    done = trainbench.run(*NANO_FORWARD, "--samples_out=/dev/full", code=1)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("trainbench: ") and "/dev/full" in last
    assert "No space left" in last


def test_a_file_that_may_not_grow_is_status_1_and_one_line(trainbench: Program) -> None:
    limit = 1000
    done = trainbench.run(
        *(*NANO_FORWARD, OUT),
        code=1,
        preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.stderr.count("\n") == 1
    assert "a.json" in done.stderr and "File too large" in done.stderr
    assert list(trainbench.directory.iterdir()) == []


# --- a GPU that cannot be used, with drivers made here -----------------------

OLD = (
    "the NVIDIA driver is for CUDA 12.4, LibTorch needs 13.0: "
    "install the NVIDIA driver 580 or a later one"
)
STUCK = (
    "the NVIDIA driver does not start (CUDA_ERROR_SYSTEM_NOT_READY); "
    "nvidia-smi shows more"
)


def run_with_driver(
    program: Program, version: int, device: str, *flags: str, code: int = 0
) -> Finished:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    source = f"""
        #include <stdio.h>
        int cuDriverGetVersion(int* version) {{
          fclose(fopen("asked", "w"));
          *version = {version};
          return 0;
        }}
        int cuInit(unsigned flags) {{ fclose(fopen("asked", "w")); return 802; }}
        int cuGetErrorName(int error, const char** name) {{
          *name = "CUDA_ERROR_SYSTEM_NOT_READY";
          return 0;
        }}"""
    folder = program.directory
    command = [compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", "libcuda.so.1"]
    subprocess.run(command, input=source, text=True, check=True, cwd=folder)
    env = {"LD_LIBRARY_PATH": str(folder)}
    flags = (*NANO_FORWARD, f"--device={device}", *flags)
    return program.run(*flags, code=code, env=env)


def test_auto_says_why_it_takes_the_cpu(trainbench: Program) -> None:
    done = run_with_driver(trainbench, 12040, "auto")
    assert done.stderr.splitlines()[0] == f"trainbench: no GPU is used: {OLD}"
    assert (trainbench.directory / "asked").exists()
    assert "1 measured" in done.stdout


def test_cuda_is_refused_with_the_reason(trainbench: Program) -> None:
    done = run_with_driver(trainbench, 13000, "cuda", code=2)
    reason = "--device is cuda, but there is no usable GPU here"
    assert done.stderr == f"trainbench: {reason}: {STUCK}; allowed here: auto, cpu\n"


def test_cpu_asks_no_driver(trainbench: Program) -> None:
    # As soon as a case runs, LibTorch itself asks it.
    run_with_driver(trainbench, 12040, "cpu", "--benchmark_list_tests")
    assert not (trainbench.directory / "asked").exists()
