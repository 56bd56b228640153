# SPDX-License-Identifier: MIT
"""Every repetition of every process is kept, in the order of the processes."""

from pathlib import Path
from typing import Any

import pytest

from golden import check_golden, refusals
from reports.calibration.main import main
from reports.calibration.samples import load
from results import at, document, entry, write

ABOUT = {"device": "a CPU", "os": "Linux", "git_revision": "a" * 40}


def result(run: int, repetitions: int = 3, **others: Any) -> dict[str, Any]:
    """The result of a process; the time of a repetition identifies the run."""
    entries = [
        entry(name, 100.0 * run + i + 1.000001, repetition_index=i)
        for name in ("a/b", "c/d")
        for i in range(repetitions)
    ]
    entries.append(entry("a/b_mean", 1e9) | {"run_type": "aggregate"})
    line = "build/trainbench --suite=smoke --benchmark_repetitions=3"
    context = ABOUT | at(20 * run) | {"command_line": line}
    return document(*entries, context=context, **others)


def test_processes_are_in_order_and_keep_their_repetitions(tmp_path: Path) -> None:
    files = [write(tmp_path / f"run{run}.json", result(run)) for run in (10, 2, 1)]
    out = tmp_path / "samples.json"
    assert main(["--collect", *map(str, files), "--samples", str(out)]) == 0
    samples = load(out)
    assert samples.started_s == [0.0, 20.0, 180.0]
    times = [[100.0 * run + i for i in (1, 2, 3)] for run in (1, 2, 10)]
    assert samples.rows["c/d"] == times
    assert samples.times.shape == (3, 2, 3)
    assert samples.about.items() >= ABOUT.items()
    assert samples.about["flags"] == "--suite=smoke --benchmark_repetitions=3"
    assert samples.about["first_process"] == "1767225620"


def test_what_is_no_collection(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "good", result(1))
    write(tmp_path / "shorter", result(2, repetitions=2))
    write(tmp_path / "interrupted", result(2, complete=False))
    other = result(3)
    other["context"]["git_revision"] = "another"
    write(tmp_path / "other", other)
    files = ("shorter", "interrupted", "none", "other", "good")
    wrong = [f"--samples out --collect good {name}" for name in files]
    wrong.append("--collect good")
    said = refusals(main, ";".join(wrong), capsys, "tools/calibrate")
    check_golden("errors/collect.txt", said)
    assert not (tmp_path / "out").exists()
