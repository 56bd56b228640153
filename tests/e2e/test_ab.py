# SPDX-License-Identifier: MIT
"""tools/ab with the built program: equal programs, and one that is really slower."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from program import NANO, binary, without

ROOT = Path(__file__).resolve().parents[2]
# Little work and much of it spinning: other tests run beside this one.
ROWS = "--benchmark_filter=^harness/spin/us:1000$"
FLAGS = (
    *without(NANO, "--benchmark_min_time"),
    ROWS,
    "--benchmark_min_time=0.01",
    "--device=cpu",
    "--threads=1",
    "--threshold=20",
    "--confidence=98",  # one look, after 7 pairs
    "--max_pairs=7",
)
PAIRS = 7


def ab(base: Path, new: Path, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tools.pairs", "--binaries", base, new]
        + ["--out=out", *FLAGS],
        cwd=directory,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_the_program_is_not_slower_than_itself(tmp_path: Path) -> None:
    program = binary("TRAINBENCH_BINARY")
    done = ab(program, program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "REGRESSED harness" not in done.stdout
    assert re.search(
        rf"^harness/spin/us:1000 .* to .* {PAIRS} pairs", done.stdout, re.M
    )
    document = json.loads((tmp_path / "out" / "result.json").read_text())
    assert document["comparison"]["verdicts"]["REGRESSED"] == 0
    samples = document["samples"]
    assert len(samples) == 2 * PAIRS
    assert all(len(one["samples_us"]) >= 5 for one in samples)
    order = [one["side"][0] for one in samples]
    assert "".join(order) == "bnnbbnnbbnnbbn"


def test_a_slower_program_is_found(tmp_path: Path) -> None:
    program = binary("TRAINBENCH_BINARY")
    slower = tmp_path / "slower"
    slower.write_text(
        f'#!/bin/sh\nexec "{program}" --injected_slowdown_percent=60 "$@"\n'
    )
    slower.chmod(0o755)
    done = ab(program, slower, tmp_path)
    assert done.returncode == 1, done.stderr
    document = json.loads((tmp_path / "out" / "result.json").read_text())
    (row,) = document["comparison"]["rows"]
    assert row["verdict"] == "REGRESSED"
