# SPDX-License-Identifier: MIT
"""tools/prove-gpu --rehearse: the stages of the proof, run on a null GPU."""

import json
import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from built import built
from null_gpu import library, null_gpu
from processes import run
from stub_checkout import ROOT, TOOLS
from tools.prove.stages import STAGES
from tools.prove.steps import SUITE, Step

MOST_BYTES = 16 << 20
# Stages that a null GPU cannot show.
SKIPPED = {"11", "12"}


def test_every_stage_runs_outside_the_checkout(tmp_path: Path) -> None:
    library()  # skips the test without a null GPU
    build = built("TRAINBENCH_BUILD")
    done = subprocess.run(
        [TOOLS / "prove-gpu", "--rehearse", f"--from={build}", f"--to={tmp_path}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) <= 40

    parts = json.loads((tmp_path / "proof.json").read_text())["parts"]
    skipped = {key for key, part in parts.items() if part["status"] == "skipped"}
    assert skipped == SKIPPED
    assert {part["status"] for part in parts.values()} == {"good", "skipped"}
    for key in ("11", "12"):
        assert parts[key]["look_at"] == ["a null GPU computes nothing"]
    ran = [step["command"] for part in parts.values() for step in part["steps"]]
    of_pack = (build / "gpu_programs.txt").read_text().split()
    named = {Path(word).name for command in ran for word in command[:1]}
    assert {Path(program).name for program in of_pack} <= named
    assert not any(word.startswith(str(ROOT)) for c in ran for word in c[1:])

    files = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert files.keys() == {
        *("proof.json", "smoke.json", f"{SUITE}.json"),
        *("profile.tar.gz", "logs.tar.gz"),
    }
    assert max(files.values()) <= MOST_BYTES
    for name in ("smoke.json", f"{SUITE}.json"):
        found = json.loads((tmp_path / name).read_text())
        assert found["complete"] and found["benchmarks"]
        assert found["errors"] == []
        for key in ("executable", "command_line"):
            assert not re.search(r"(^|[\s=])/", found["context"][key])
    if "can be seen" in done.stderr:
        pytest.skip("this machine allows no namespace of mounts")


@cache
def names_of(*flags: str) -> list[str]:
    command = (str(built("TRAINBENCH_BINARY")), *flags, "--benchmark_list_tests")
    variables = os.environ | null_gpu("h200")
    return run(*command, env=variables).stdout.split()


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(step, id=f"{stage.name}-{i}")
        for stage in STAGES
        for i, step in enumerate(stage.steps)
        if step.of_cases
    ],
)
def test_each_pattern_finds_cases(step: Step) -> None:
    flags = [
        flag
        for flag in step.command[step.command.index("{bin}/trainbench") + 1 :]
        if "{" not in flag and not flag.startswith(("--warmup", "--samples"))
    ]
    names = names_of(*flags)
    assert names
    unmatched = [p for p in step.patterns if not any(re.match(p, n) for n in names)]
    assert unmatched == []


def test_steps_visit_each_row_once() -> None:
    """A step that is cut keeps its rows: rows of several rounds end with the last."""
    each = (step for stage in STAGES for step in stage.steps)
    timed = [step for step in each if step.of_cases and step.real]
    assert timed and all("--rounds=1" in step.real for step in timed)
