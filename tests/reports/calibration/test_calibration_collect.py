# SPDX-License-Identifier: MIT
"""Every repetition of every process is kept, also of an interrupted run."""

import subprocess
import sys
from pathlib import Path

import pytest

from reports.calibration.collect import KEPT, main
from reports.calibration.samples import load
from stub_checkout import write_script

# Counts its runs in a file; the time of a repetition identifies the run.
PROGRAM = """#!{python}
import json, pathlib, sys
flags = dict(flag.split("=", 1) for flag in sys.argv[1:])
runs = pathlib.Path({runs!r})
run = len(runs.read_text()) if runs.exists() else 0
if run == {dies_at}:
    sys.exit(1)
runs.write_text("x" * (run + 1))
rows = [
    dict(name=name, run_type="iteration", real_time=100.0 * run + i + 1)
    for name in ("a/b", "c/d")
    for i in range(int(flags["--benchmark_repetitions"]))
]
rows.append(dict(name="a/b_mean", run_type="aggregate", real_time=1e9))
context = dict.fromkeys({kept!r}, "known")
document = dict(context=context, benchmarks=rows)
pathlib.Path(flags["--benchmark_out"]).write_text(json.dumps(document))
"""


def program(folder: Path, dies_at: int = -1) -> Path:
    path, runs = folder / "program", str(folder / "runs")
    text = PROGRAM.format(python=sys.executable, runs=runs, dies_at=dies_at, kept=KEPT)
    write_script(path, text)
    return path


def arguments(binary: Path, processes: int, out: Path) -> list[str]:
    flags = ["--binary", str(binary), "--processes", str(processes)]
    return [*flags, "--repetitions", "3", "--filter", "a|c", "--out", str(out)]


def test_it_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    out = tmp_path / "samples.json"
    with pytest.raises(subprocess.CalledProcessError):
        main(arguments(program(tmp_path, dies_at=2), 4, out))
    assert load(out).times.shape == (2, 2, 3)
    assert main(arguments(program(tmp_path), 4, out)) == 0
    samples = load(out)
    assert samples.medians[:, 0].tolist() == [2.0, 102.0, 202.0, 302.0]
    assert samples.started_s == sorted(samples.started_s)
