# SPDX-License-Identifier: MIT
"""A repository of empty commits, and stores with results for them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reports.history.store import Store
from results import at, document, entry, write
from stub_checkout import git, write_script

COMMITS = 40
FAKE_AB = Path(__file__).resolve().parents[1] / "reports/history/fake_ab.py"


def repository(root: Path) -> list[str]:
    """Creates the repository; returns its revisions, oldest first."""
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    commits = []
    for number in range(COMMITS):
        subject = f"change {number}\n"
        commits.append(
            "commit refs/heads/main\n"
            f"committer a <a@example> {1767225600 + number} +0000\n"
            f"data {len(subject)}\n{subject}\n"
        )
    git(root, "fast-import", "--quiet", words="".join(commits))
    return git(root, "rev-list", "--reverse", "main").split()


def result(
    revision: str, rows: dict[str, Sequence[float]], second: int = 0, **more: Any
) -> dict[str, Any]:
    """Makes a result; `rows` are the times of each row's processes in us."""
    counters = {"flops": 1e6, "peak_bytes": 1e6, **more.pop("counters", {})}
    entries = [
        entry(name, us, p50_us=us, **counters)
        for name, each in rows.items()
        for us in each
    ]
    context = {
        "git_revision": revision,
        **at(second),
        "processes": "6",
        "command_line": "trainbench --suite=smoke --processes=6 --benchmark_out=a.json",
    }
    return document(*entries, context=context | more.pop("context", {}), **more)


def add(store: Store, folder: Path, content: dict[str, Any]) -> Path:
    store.create()
    return store.add(write(folder / "added.json", content))


def filled(
    store: Store,
    folder: Path,
    revisions: Sequence[str],
    slower: float,
    since: int,
    **context: str,
) -> None:
    """Adds ten rows of six processes that differ by 1 % for each revision. From number
    `since` on, `e0/row` takes `slower` times as long, and `e1/row` has a FLOP more."""
    rng = np.random.default_rng(1)
    for number, revision in enumerate(revisions):
        times = 100 * np.exp(rng.normal(0, 0.01, (10, 6)))
        times[0] *= slower if number >= since else 1
        rows = {f"e{row}/row": each.tolist() for row, each in enumerate(times)}
        content = result(revision, rows, number, context=context)
        for each in content["benchmarks"]:
            each["flops"] += each["name"] == "e1/row" and number >= since
        add(store, folder, content)


def fake_ab(root: Path, answers: dict[str, Any]) -> Path:
    """Installs a tools/ab that gives `answers`; returns the file that records its
    calls."""
    folder = root / "tools"
    write_script(folder / "ab", FAKE_AB.read_text())
    write(folder / "answers.json", answers)
    write(folder / "first.json", document())
    calls = folder / "calls.txt"
    calls.write_text("")
    return calls
