# SPDX-License-Identifier: MIT
"""Collects every repetition from the results of many processes of one binary.

All processes do the same work, so every difference between their times is noise.
"""

import itertools
from collections.abc import Sequence
from pathlib import Path

from reports.calibration.samples import Samples, check
from reports.results import records, result_file
from reports.results.records import NotAResult
from reports.results.rows import grouped

KEPT = ("device", "num_cpus", "os", "torch", "threads", "git_revision")


def collected(paths: Sequence[Path]) -> Samples:
    """Returns the samples of these results, by start time. Errors: ValueError, if they
    differ in program, machine, rows or repetitions, or one is given twice."""
    found = []
    for path in paths:
        result = result_file.load(path)
        if result.errors or not result.complete or result.started is None:
            raise NotAResult(f"{path}: it is incomplete, or has errors or no date")
        found.append((result.started, path, result.context))
    found.sort(key=lambda one: one[0])
    first_s, _, context = found[0]
    about = {key: context[key] for key in KEPT if key in context}
    for (_, before, _), (_, path, other) in itertools.pairwise(found):
        if path.samefile(before):
            raise NotAResult(f"{path}: it is given twice")
        for key in about:
            if other.get(key) != about[key]:
                raise NotAResult(f"{path}: its {key} is not that of {found[0][1]}")
    about["flags"] = context.get("command_line", "").partition(" ")[2]
    about["first_process"] = f"{first_s:.0f}"
    samples = Samples(about, [round(one[0] - first_s, 1) for one in found], {})
    for _, path, _ in found:
        every = records.load(path)["benchmarks"]
        entries = [entry for entry in every if entry["run_type"] == "iteration"]
        for name, same in grouped(entries, lambda entry: entry["name"]).items():
            times = [float(f"{entry['real_time']:.5g}") for entry in same]
            samples.rows.setdefault(name, []).append(times)
    check(samples)
    return samples
