# SPDX-License-Identifier: MIT
"""Our model of compare.py agrees with the real script."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from processes import run
from reports.calibration.samples import Samples, load
from reports.calibration.stock import p_values

COMPARE = Path("/usr/share/benchmark/compare.py")


def write(path: Path, samples: Samples, process: int, repetitions: int) -> None:
    """Writes the output that this process would have written with --benchmark_out."""
    rows = [
        {
            "name": name,
            "run_name": name,
            "family_index": family,
            "per_family_instance_index": 0,
            "repetitions": repetitions,
            "repetition_index": i,
            "run_type": "iteration",
            "threads": 1,
            "iterations": 1,
            "real_time": time_us,
            "cpu_time": time_us,
            "time_unit": "us",
        }
        for family, (name, times) in enumerate(samples.rows.items())
        for i, time_us in enumerate(times[process][:repetitions])
    ]
    path.write_text(json.dumps({"context": {}, "benchmarks": rows}), encoding="utf-8")


@pytest.mark.parametrize(
    ("first", "second", "repetitions"), [(0, 1, 9), (3, 30, 9), (7, 8, 6), (20, 39, 3)]
)
def test_p_values_are_those_of_the_real_script(
    tmp_path: Path, first: int, second: int, repetitions: int
) -> None:
    if not COMPARE.exists():
        pytest.skip("Google Benchmark's compare.py is not installed")
    samples = load()
    files = [tmp_path / "base.json", tmp_path / "new.json"]
    for path, process in zip(files, (first, second), strict=True):
        write(path, samples, process, repetitions)
    dump = tmp_path / "report.json"
    command = (sys.executable, COMPARE, "--no-color", "-d", dump, "benchmarks")
    done = run(*command, *files)
    report = json.loads(dump.read_text(encoding="utf-8"))
    theirs = {
        row["name"]: row["utest"]["time_pvalue"]
        for row in report
        if row["name"] in samples.rows
    }
    times = samples.times[:, :, :repetitions]
    ours = p_values(times[first], times[second])
    assert theirs == pytest.approx(dict(zip(samples.rows, ours.tolist(), strict=True)))
    # The script prints them in two columns, the time's first.
    printed = re.findall(r"_pvalue\s+(\d\.\d{4})", done.stdout)
    assert printed == [f"{p:.4f}" for p in ours]


@pytest.mark.parametrize("repetitions", [3, 8, 9, 20])
def test_p_values_are_scipys_row_by_row(repetitions: int) -> None:
    """Some of the rows have ties, which must not change the other rows."""
    rng = np.random.default_rng(repetitions)
    both = rng.integers(0, 60, (2, 40, repetitions)).astype(float)
    expected = [
        mannwhitneyu(base, new, alternative="two-sided").pvalue
        for base, new in zip(both[0], both[1], strict=True)
    ]
    assert p_values(both[0], both[1]) == pytest.approx(expected)
