# SPDX-License-Identifier: MIT
"""tools/plan, rehearse and nsys with stubs: their builds, and where flags go."""

import shutil

import pytest

from stub_checkout import RECORDER, TOOLS, Checkout, write_script

MODULES = {"plan": "planner", "rehearse": "rehearsal", "nsys": "nsight"}
NULL_GPU = "null_gpu null_gpu_driver"


@pytest.fixture
def scripts(checkout: Checkout) -> Checkout:
    for name in MODULES:
        shutil.copy(TOOLS / name, checkout.root / "tools")
    said = '[[ $4 != *.main ]] || echo "$PYTHONPATH"\n'
    write_script(checkout.root / ".venv/bin/python", RECORDER + said)
    return checkout


@pytest.mark.parametrize(
    ("line", "targets"),
    [
        ("plan --models=tiny", ["trainbench_plan"]),
        ("plan --parallel --gpu_gb=40", []),
        ("plan --help", []),
        ("rehearse --help", []),
        ("rehearse --gpu=h100 --suite=smoke", ["trainbench", NULL_GPU]),
        ("rehearse --gpu=h100 --mesh data:2", ["trainbench_plan", NULL_GPU]),
        ("rehearse --mesh=auto --help", []),
        ("nsys --help", []),
        ("nsys --into=a --seq=8", ["trainbench"]),
    ],
)
def test_a_module_gets_the_flags_when_its_programs_are_built(
    scripts: Checkout, line: str, targets: list[str]
) -> None:
    if "--help" not in line:
        write_script(scripts.stubs / "nsys", RECORDER)
        ninja = scripts.root / "build/release/build.ninja"
        ninja.write_text("build null_gpu: phony\n")
    builds = scripts.stubs / "builds"
    tool, *flags = line.split()
    done = scripts.run(tool, *flags, STUB_CMAKE_LOG=str(builds))
    assert done.stdout == f"{scripts.root}\n"
    module = f"reports.command tools/{tool} tools.{MODULES[tool]}.main"
    assert scripts.log()[-1] == f"python -m {module} {' '.join(flags)}"
    built = builds.read_text().splitlines() if builds.exists() else []
    assert [call.partition("--target ")[2] for call in built] == targets


@pytest.mark.parametrize("flag", ["--gpu=none", "--mesh=none"])
def test_a_rehearsal_with_a_wrong_flag_builds_nothing(
    scripts: Checkout, flag: str
) -> None:
    builds = scripts.stubs / "builds"
    stubs = {"STUB_FAILS": "python", "STUB_CMAKE_LOG": str(builds)}
    scripts.run("rehearse", flag, status=8, **stubs)
    assert not builds.exists()


@pytest.mark.parametrize(
    ("tool", "missing"),
    [("rehearse", "CUDA's headers"), ("nsys", "nsight-systems-cli")],
)
def test_what_is_missing_is_named(scripts: Checkout, tool: str, missing: str) -> None:
    done = scripts.run(tool, "--gpu=h100", status=3)
    assert done.stdout == ""
    said = done.stderr.splitlines()[-1]
    assert said.startswith(f"tools/{tool}: ") and missing in said


@pytest.mark.parametrize("gpu", [["--gpu=h100"], ["--gpu", "h100"]])
def test_a_plan_for_a_gpu_is_a_rehearsal(scripts: Checkout, gpu: list[str]) -> None:
    write_script(scripts.root / "tools/rehearse", '#!/bin/sh\necho "rehearse $*"\n')
    done = scripts.run("plan", "--suite=smoke", *gpu)
    assert done.stdout == f"rehearse --suite=smoke {' '.join(gpu)}\n"
