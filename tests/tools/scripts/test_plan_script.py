# SPDX-License-Identifier: MIT
"""tools/plan with stubs: what it builds, and who answers."""

import shutil

import pytest

from stub_checkout import RECORDER, TOOLS, Checkout, write_script

PYTHON = "python -m reports.command tools/plan tools.planner.__main__"


@pytest.fixture
def plan(checkout: Checkout) -> Checkout:
    shutil.copy(TOOLS / "plan", checkout.root / "tools")
    write_script(checkout.root / ".venv/bin/python", RECORDER)
    write_script(checkout.root / "tools/rehearse", '#!/bin/sh\necho "rehearse $*"\n')
    return checkout


def test_models_need_the_program(plan: Checkout) -> None:
    builds = plan.stubs / "builds"
    done = plan.run("plan", "--models=tiny", STUB_CMAKE_LOG=str(builds))
    assert done.returncode == 0, done.stderr
    assert builds.read_text().endswith("--target trainbench_plan\n")
    assert plan.log() == [f"{PYTHON} --models=tiny"]


def test_formulas_need_none(plan: Checkout) -> None:
    flags = ("--parallel", "--gpu_gb=40")
    builds = plan.stubs / "builds"
    done = plan.run("plan", *flags, STUB_CMAKE_LOG=str(builds))
    assert done.returncode == 0, done.stderr
    assert plan.log() == [f"{PYTHON} {' '.join(flags)}"]
    assert not builds.exists()


@pytest.mark.parametrize("gpu", [["--gpu=h100"], ["--gpu", "h100"]])
def test_a_gpu_is_rehearsed(plan: Checkout, gpu: list[str]) -> None:
    done = plan.run("plan", "--suite=smoke", *gpu)
    assert done.stdout == f"rehearse --suite=smoke {' '.join(gpu)}\n"
