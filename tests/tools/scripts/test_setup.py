# SPDX-License-Identifier: MIT
"""tools/setup with stubs of its commands: which LibTorch a machine gets, and when."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from processes import Finished, run
from stub_checkout import TOOLS, write_script

# As PYTHON, it also creates environments in which it is the interpreter.
PYTHON = """#!/bin/bash
case "$*" in
  *gpu_driver.py) echo "$STUB_TROUBLE"; exit "${STUB_NO_GPU:-0}" ;;
  "-m venv "*)
    site=$3/lib/python3.11/site-packages/nvidia
    mkdir -p "$3/bin" "$site"/cu13/{lib,include} "$site"/{cudnn,nccl}/include
    : >"$site/cu13/lib/libcudart.so.13"
    : >"$site/cudnn/include/cudnn.h"
    mkdir "$site/nccl/include/nccl_device"
    cp "$0" "$3/bin/python" ;;
  *"pip install"* | *"-m pip"*" install "*)
    for word; do [[ $word != *.txt ]] || echo "pip $word" >>"$STUB_LOG"; done
    exit "${STUB_PIP:-0}" ;;
  "-c "*libtorch_cpu*) echo "torch for the CPU" ;;
  "-c "*"import torch"*) echo "torch" ;;
esac
"""
NVCC = """#!/bin/sh
echo "Cuda compilation tools, release $STUB_NVCC, V$STUB_NVCC.1"
"""
LIBRARIES = (
    "cublas.so.13 cublasLt.so.13 cudart.so.13 cudnn.so.9 cufft.so.12 cupti.so.13 "
    "curand.so.10 cusolver.so.12 cusparse.so.12 nccl.so.2 nvJitLink.so.13 nvrtc.so.13"
)
HEADERS = "cublas_v2.h cudnn.h cusolverDn.h cusparse.h nccl.h nvtx3/nvToolsExt.h"
NO_GPU = {"STUB_NO_GPU": "1"}
TOO_OLD = NO_GPU | {"STUB_TROUBLE": "the driver is too old"}
FULL = "LibTorch and CUDA 13.0 from wheels"
CPU = "LibTorch for the CPU"
IGNORED = "the CUDA 12.4 toolkit here is not used"


@dataclass(frozen=True)
class Machine:
    root: Path
    toolkit: Path

    def add_toolkit(self, without: str) -> None:
        write_script(self.toolkit / "bin/nvcc", NVCC)
        for header in HEADERS.split():
            path = self.toolkit / "include" / header
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        lines = [f"\\tlib{name} (libc6) => /" for name in LIBRARIES.split()]
        if without.endswith(".h"):
            (self.toolkit / "include" / without).unlink()
        printed = "\\n".join(line for line in lines if f"lib{without} " not in line)
        write_script(self.toolkit / "bin/ldconfig", f"#!/bin/sh\nprintf '{printed}\\n'")

    def setup(self, *flags: str, **extra: str) -> Finished:
        """Runs tools/setup, which may end with any exit status."""
        environment = {
            "PATH": f"{self.toolkit}/bin:/usr/local/bin:/usr/bin:/bin",
            "STUB_LOG": str(self.toolkit / "log"),
            "TRAINBENCH_APT": "off",
            **extra,
        }
        (self.toolkit / "log").write_text("")
        return run(self.root / "tools/setup", *flags, status=None, env=environment)

    def installed(self) -> list[str]:
        return [
            Path(line.removeprefix("pip ")).stem
            for line in (self.toolkit / "log").read_text().splitlines()
        ]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path / "check out", tmp_path / "toolkit")
    (made.root / "tools").mkdir(parents=True)
    shutil.copy(TOOLS / "setup", made.root / "tools/setup")
    for folder in ("lib", "requirements"):
        shutil.copytree(TOOLS / folder, made.root / "tools" / folder)
    stubs = {
        "c++": "#!/bin/sh\nexit 0\n",
        "cmake": "#!/bin/sh\necho cmake version 3.25.1\n",
        "ninja": "#!/bin/sh\nexit 0\n",
        "ldconfig": "#!/bin/sh\nexit 0\n",
        "nvcc": "#!/bin/sh\nexit 127\n",
        "python3": PYTHON,
    }
    for name, text in stubs.items():
        write_script(made.toolkit / "bin" / name, text)
    return made


def line(done: Finished) -> str:
    assert done.returncode == 0, done.stderr
    ready = [text for text in done.stderr.splitlines() if "environment: ready" in text]
    return ready[0].split("ready (")[1].rsplit(")", 2)[0] if ready else ""


@pytest.mark.parametrize(
    ("toolkit", "given", "ready", "kind"),
    [
        ("", {}, FULL, "full"),
        ("", NO_GPU, f"{CPU}: no GPU here", "cpu"),
        ("", TOO_OLD, f"{CPU}: the driver is too old", "cpu"),
        ("", {"TRAINBENCH_TORCH": "cpu"}, f"{CPU}: TRAINBENCH_TORCH=cpu", "cpu"),
        ("", {"TRAINBENCH_TORCH": "full"} | NO_GPU, FULL, "full"),
        ("12.4", {}, f"{FULL}; {IGNORED}", "full"),
        ("12.4", NO_GPU, f"{CPU}: no GPU here; {IGNORED}", "cpu"),
        ("13.0", NO_GPU, "LibTorch, CUDA 13.0 from the toolkit", "lean"),
        ("13.0 nccl.h", NO_GPU, FULL, "full"),
        ("13.0 cudnn.so.9", NO_GPU, FULL, "full"),
    ],
)
def test_which_libtorch_a_machine_gets_once(
    machine: Machine, toolkit: str, given: dict[str, str], ready: str, kind: str
) -> None:
    """A toolkit consists of its version and its missing parts."""
    version, _, without = toolkit.partition(" ")
    if without and Path("/usr/include", without).exists():
        pytest.skip(f"this machine has {without}")
    if version:
        machine.add_toolkit(without)
        given = given | {"STUB_NVCC": version}
    done = machine.setup(**given)
    assert line(done) == ready
    assert machine.installed() == [f"torch-{kind}", "python"]
    assert ("Load check: torch for the CPU" in done.stderr) == (kind == "cpu")
    again = machine.setup("--if-needed", **given)
    assert (again.returncode, again.stderr, machine.installed()) == (0, "", [])


def test_a_new_driver_brings_cuda_and_no_lost_one_takes_it_away(
    machine: Machine,
) -> None:
    machine.setup(**TOO_OLD)
    assert line(machine.setup("--if-needed")) == FULL
    assert machine.installed() == ["torch-full", "python"]
    done = machine.setup("--if-needed", **NO_GPU)
    assert (done.stderr, machine.installed()) == ("", [])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"TRAINBENCH_TORCH": "some"},
            "TRAINBENCH_TORCH is 'some'; allowed: lean, full, cpu",
        ),
        ({"CXX": "false"}, "a C++20 compiler"),
        ({"STUB_PIP": "1"}, "step 2/3 (Python environment) failed: pip install"),
    ],
)
def test_what_fails_is_named_and_done_again(
    machine: Machine, given: dict[str, str], said: str
) -> None:
    done = machine.setup(**given)
    assert done.returncode == 3
    assert said in done.stderr
    assert "STUB_PIP" in given or machine.installed() == []
    assert line(machine.setup("--if-needed")) == FULL
    assert machine.installed() == ["torch-full", "python"]


def test_a_checkout_that_cannot_be_written(machine: Machine) -> None:
    log = machine.root / "build/setup.log"
    log.mkdir(parents=True)
    done = machine.setup()
    assert (done.returncode, done.stderr) == (3, f"tools/setup: cannot write {log}\n")
