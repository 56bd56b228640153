# SPDX-License-Identifier: MIT
"""tools/ab with equal programs; test_example_experiment.py has one that is slower."""

import json
import os
import re
import sys
from pathlib import Path

from built import built
from processes import run
from program import NANO, without
from reports.compare.ab_record import load, samples_file_of
from stub_checkout import ROOT
from tools.ab_run.schedule import side_of
from tools.ab_run.task import key_of

FLAGS = (
    *without(NANO, "--benchmark_min_time"),
    "--benchmark_min_time=0.01",
    "--device=cpu",
    "--threads=1",
)
# A spin loop, and real work with many operators.
ROWS = ["harness/spin/us:1000", "model_size/nano/fp32/train_step/batch:1/seq:8"]
PAIRS = 7  # the fewest for two rows: one look


def test_the_program_is_not_slower_than_itself(tmp_path: Path) -> None:
    program = built("TRAINBENCH_BINARY")
    module = ("reports.command", "tools/ab", "tools.ab_run.main")
    done = run(
        *(sys.executable, "-m", *module, "--out=out", "--binaries", program, program),
        *(*FLAGS, f"--benchmark_filter=^({'|'.join(ROWS)})$", f"--max_pairs={PAIRS}"),
        "--threshold=99",  # tolerates any disturbance of the machine
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    found = json.loads((tmp_path / "out/result.json").read_text())
    rows = found["comparison"]["rows"]
    assert [row["name"] for row in rows] == ROWS
    assert found["comparison"]["verdicts"]["REGRESSED"] == 0
    assert all(row["interval"] is not None for row in rows)
    for name in ROWS:
        assert re.search(rf"^{name} .* to .* {PAIRS} pairs", done.stdout, re.M)
    record = load(tmp_path / "out")
    assert record.pairs == PAIRS
    key = key_of(record)
    for process in record.processes:
        assert process.side == side_of(key, process.position)
        log = samples_file_of(tmp_path / "out" / process.file)
        samples = [json.loads(line) for line in log.read_text().splitlines()]
        assert len(samples) == len(ROWS)
        assert all(len(sample["samples_us"]) >= 5 for sample in samples)
        # Both programs asked for the turns of their samples.
        assert all(sample["turn_us"] for sample in samples)
