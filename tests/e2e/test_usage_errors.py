# SPDX-License-Identifier: MIT
"""Usage errors of the whole program (the rest are in
tests/fixtures/app/program_test.cc), and a GPU that cannot be used."""

import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from program import NANO_FORWARD, Finished, Program


def assert_one_line(err: str, *parts: str) -> None:
    assert err.startswith("trainbench: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1, err
    for part in parts:
        assert part in err


def test_a_gpu_that_is_not_there(trainbench: Program) -> None:
    done = trainbench.run("--device=cuda", "--benchmark_list_tests")
    if done.code == 0:
        pytest.skip("there is a usable GPU")
    assert done.code == 2
    assert done.out == ""
    assert_one_line(done.err, "--device is cuda", "no usable GPU", "cpu")


def test_a_bad_variable_is_reported_like_its_flag(trainbench: Program) -> None:
    done = trainbench.run(env={"BENCHMARK_REPETITIONS": "often"})
    assert done.code == 2
    # Google Benchmark has printed its own error before main.
    last = done.err.splitlines(keepends=True)[-1]
    assert_one_line(last, "--benchmark_repetitions is 'often'", "from 1")


def test_a_full_disk_is_status_1_and_one_line(trainbench: Program) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    done = trainbench.run(
        "--suite=smoke",
        "--benchmark_filter=model_size/tiny/fp32/forward/",
        "--benchmark_min_time=0",
        "--samples_out=/dev/full",
    )
    assert done.code == 1
    last = done.err.splitlines(keepends=True)[-1]
    assert_one_line(last, "/dev/full", "No space left")


def test_a_file_that_may_not_grow_is_status_1_and_one_line(trainbench: Program) -> None:
    limit = 1000
    done = trainbench.run(
        *NANO_FORWARD,
        "--benchmark_out=a.json",
        preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "a.json" in done.err and "File too large" in done.err
    assert list(trainbench.directory.iterdir()) == []


# --- a GPU that cannot be used, with drivers made here -----------------------

DRIVERS = {
    "12.4": "the NVIDIA driver is for CUDA 12.4, LibTorch needs 13.0: "
    "install the NVIDIA driver 580 or a later one",
    "13.0": "the NVIDIA driver does not start (CUDA_ERROR_SYSTEM_NOT_READY); "
    "nvidia-smi shows more",
}


def run_with_driver(
    program: Program, tmp_path: Path, version: str, device: str
) -> Finished:
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
        *NANO_FORWARD, f"--device={device}", env={"LD_LIBRARY_PATH": str(tmp_path)}
    )


@pytest.mark.parametrize("version", DRIVERS)
def test_auto_says_why_it_takes_the_cpu(
    trainbench: Program, tmp_path: Path, version: str
) -> None:
    done = run_with_driver(trainbench, tmp_path, version, "auto")
    assert done.code == 0, done.err
    assert done.err.splitlines()[0] == f"trainbench: no GPU is used: {DRIVERS[version]}"
    assert "1 measured" in done.out


@pytest.mark.parametrize("version", DRIVERS)
def test_cuda_is_refused_with_the_same_reason(
    trainbench: Program, tmp_path: Path, version: str
) -> None:
    done = run_with_driver(trainbench, tmp_path, version, "cuda")
    assert done.code == 2
    reason = "--device is cuda, but there is no usable GPU here"
    assert done.err == (
        f"trainbench: {reason}: {DRIVERS[version]}; allowed here: auto, cpu\n"
    )


def test_cpu_asks_no_driver(trainbench: Program, tmp_path: Path) -> None:
    done = run_with_driver(trainbench, tmp_path, "12.4", "cpu")
    assert done.code == 0, done.err
    assert "no GPU is used" not in done.err
