# SPDX-License-Identifier: MIT
"""GitHub's workflows: their commands exist, and jobs that may write run no code."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / ".github/workflows").iterdir())
Yaml = dict[Any, Any]

pytestmark = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


def workflow(path: Path) -> Yaml:
    loaded: Yaml = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def steps(path: Path) -> list[Yaml]:
    return [step for job in workflow(path)["jobs"].values() for step in job["steps"]]


def test_every_command_of_ours_can_be_run(path: Path) -> None:
    text = "\n".join(step.get("run", "") for step in steps(path))
    commands = set(re.findall(r"(?<![\w./-])((?:tools|\.ci)/[\w./-]+)", text))
    assert commands
    assert [c for c in sorted(commands) if not os.access(ROOT / c, os.X_OK)] == []


def test_only_a_job_without_code_of_ours_may_write(path: Path) -> None:
    assert workflow(path)["permissions"] == {"contents": "read"}
    # YAML 1.1 reads the key `on` as true. No other pull-request event is safe.
    assert set(workflow(path)[True]) <= {"push", "pull_request"}
    harmless = {"actions/download-artifact", "actions/github-script"}
    for job in workflow(path)["jobs"].values():
        if set(job.get("permissions", {}).values()) - {"read", "none"}:
            used = {step.get("uses", "run").split("@")[0] for step in job["steps"]}
            assert used <= harmless


def test_no_checkout_leaves_its_token_behind(path: Path) -> None:
    for step in steps(path):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_nothing_is_pasted_into_a_script(path: Path) -> None:
    """Text from an event, such as a branch's name, could be code."""
    for step in steps(path):
        assert "${{" not in step.get("run", "")
        assert "${{" not in step.get("with", {}).get("script", "")
