# SPDX-License-Identifier: MIT
"""The peers: a step in our program and in PyTorch, and their rounds."""

import json
import sys
from pathlib import Path

import pytest

from built import built
from processes import run
from stub_checkout import ROOT
from tools.peers import step_table
from tools.peers.step_sides import Outcome
from tools.peers.step_table import interval_of, run_rounds
from tools.prove.stages import STAGES


def test_both_programs_do_the_same_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, program = tmp_path / "out.json", built("TRAINBENCH_BINARY")
    counts = ("--batch=1", "--seq=8", "--rounds=1", "--samples=3", f"--json={out}")
    chosen = ("--precisions=fp32", "--sides=eager")
    step_table.main([f"--binary={program}", *chosen, *counts])
    (step,) = json.loads(out.read_text())["steps"]
    (ours,), (eager,) = step["rounds"]["textbook"], step["rounds"]["eager"]
    found = step["cells"]["textbook"]
    assert found["v_eager"] == ours["us"] / eager["us"]
    assert (found["interval"], found["v_compile"]) == (None, None)
    row = "| tiny/fp32/forward_backward/batch:1/seq:8 | textbook |"
    assert row in capsys.readouterr().out


def test_the_proof_on_a_gpu_can_start_them() -> None:
    (stage,) = (stage for stage in STAGES if stage.name == "peers")
    modules = {step.command[:5] for step in stage.steps if step.modules}
    for python, *command in modules:
        assert python == "{python}"
        assert "usage: " in run(sys.executable, *command, "--help", cwd=ROOT).stdout


def test_all_sides_run_once_per_round_in_another_order() -> None:
    calls: list[str] = []

    def run(side: str) -> Outcome:
        calls.append(side)
        return Outcome(ord(side), 0, 0)

    found = run_rounds("abc", 40, run)
    orders = ["".join(calls[i : i + 3]) for i in range(0, 120, 3)]
    assert all(sorted(order) == ["a", "b", "c"] for order in orders)
    assert len(set(orders)) > 1  # fails with probability 6^-39
    assert found == {side: [Outcome(ord(side), 0, 0)] * 40 for side in "abc"}
    assert interval_of([3] * 6) == pytest.approx((3, 3))
    assert interval_of([3] * 5) is None
