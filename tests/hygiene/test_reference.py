# SPDX-License-Identifier: MIT
"""The committed runs are complete, from one revision each, without local paths."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

import checks

MACHINES = sorted(
    path.parent for path in (checks.ROOT / "reports/reference").glob("*/full.json")
)
# README.md shows one of them, so at least one must exist.
pytestmark = pytest.mark.parametrize("machine", MACHINES, ids=lambda path: path.name)


def run_of(machine: Path, suffix: str) -> Path:
    """Returns a file of the machine's only run; its files are named after the suite."""
    (table,) = machine.glob("*.txt")
    return table.with_suffix(suffix)


def result(machine: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run_of(machine, ".json").read_text("utf-8"))
    return document


def test_the_run_is_good_and_of_a_revision(machine: Path) -> None:
    document = result(machine)
    assert document["complete"] is True
    assert document["errors"] == []
    assert document["context"]["suite"] == run_of(machine, ".json").stem
    # Runs of tools/reference --allow-dirty must not be committed.
    assert document["context"]["git_dirty"] == "false"


def test_the_table_is_of_the_same_run(machine: Path) -> None:
    document, table = result(machine), run_of(machine, ".txt").read_text("utf-8")
    found = re.match(r"git_revision: ([0-9a-f]+) ", table)
    assert found and document["context"]["git_revision"].startswith(found[1])
    printed = {line.split()[0] for line in table.splitlines() if line.strip()}
    assert {row["run_name"] for row in document["benchmarks"]} <= printed


def test_no_path_of_the_machine(machine: Path) -> None:
    context = result(machine)["context"]
    for key in ("executable", "command_line"):
        assert not re.search(r"(^|[\s=])/", context[key]), context[key]


def test_each_row_has_its_samples(machine: Path) -> None:
    samples = run_of(machine, ".samples.jsonl.gz")
    with gzip.open(samples, "rt", encoding="utf-8") as log:
        lines = [json.loads(line) for line in log]
    rows = {row["run_name"] for row in result(machine)["benchmarks"]}
    assert {line["name"] for line in lines} == rows
    assert all(len(line["start_seconds"]) == len(line["samples_us"]) for line in lines)


def test_the_machine_is_described(machine: Path) -> None:
    assert f"| `{machine.name}` | " in checks.read("reports/reference/README.md")


def test_a_run_of_today_can_be_compared_with_it(machine: Path) -> None:
    # The values that tools/compare requires to be equal and every machine has.
    for key in ("device", "torch", "threads", "dtype_policy", "suite_version"):
        assert key in result(machine)["context"]
