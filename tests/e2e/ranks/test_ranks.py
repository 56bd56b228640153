# SPDX-License-Identifier: MIT
"""Multi-process cases: what happens to the other ranks when one misbehaves.

TRAINBENCH_CHAOS_ROUNDS (at most 20) sets how often each fault is repeated.
"""

import os
import signal
import time
from pathlib import Path

import pytest

from processes import wait_until
from program import FAST, OUT, SAMPLES, Program, measured, names

ROUNDS = min(20, int(os.environ.get("TRAINBENCH_CHAOS_ROUNDS", "1")))
PAPER = ("--suite=paper", *FAST)

# The required error message of each fault.
REASONS = {
    "killed": r"rank 1 was killed by signal 9 (Killed); last words: in sampling",
    "asleep": r"rank 1 did not answer; last words: in sampling; rank 0: ",
    "throws": r"rank 1: no third call",
    "throws_in_build": r"rank 1: cannot be built",
    "wrong": r"rank 1: wrong result: the sum is 3, should be 4",
} | {
    # Inside the collectives of fully sharded ranks.
    f"{fault}_{where}": reason
    for fault, reason in (
        ("killed", r"rank 1 was killed by signal 9 (Killed); last words: in sampling"),
        ("asleep", r"rank 1 did not answer; last words: in sampling; rank 0: "),
        ("throws", r"rank 1: no third call"),
        ("no_memory", r"rank 1: "),
    )
    for where in ("gathering", "reducing")
}


def bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # the process has ended
        return b""


def ranks_in(directory: Path) -> list[int]:
    """Returns the pids of rank processes that run in `directory`."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or b"TRAINBENCH_STORE=" not in bytes_of(
            entry / "environ"
        ):
            continue
        try:
            if Path(os.readlink(entry / "cwd")) == directory.resolve():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.fixture
def empty(faults: Program) -> Path:
    """The directory for temporary files."""
    directory = faults.directory / "temporary"
    directory.mkdir()
    return directory


def test_ranks_are_processes_and_share_the_threads(faults: Program) -> None:
    document = faults.measure(
        "--benchmark_filter=^rank_fault/(good|chatty)/ranks:2/n:0$",
        *(SAMPLES, "--threads=2", *PAPER),
    )
    processes = [line["rank_process_ids"] for line in faults.samples()]
    assert [len(ids) for ids in processes] == [2, 2]
    assert len({i for ids in processes for i in ids}) == 4
    for row in measured(document):
        assert row["ranks"] == 2
        assert row["threads_per_rank"] == 1
        assert 0 <= row["rank_spread"] < 1


def test_all_visits_in_a_process_are_by_its_ranks(faults: Program) -> None:
    """No rank starts ranks of its own, which would slow down the others."""
    cases = "--benchmark_filter=^rank_fault/(good|chatty)/ranks:2/n:0$"
    faults.run(cases, "--rounds=2", "--processes=1", SAMPLES, *PAPER)
    visits = [line["visit_process_ids"] for line in faults.samples()]
    assert [len(ids) for ids in visits] == [2, 2]
    assert len({i for ids in visits for i in ids}) == 1


def test_each_rank_at_fault_is_named_and_nothing_is_left(
    faults: Program, empty: Path
) -> None:
    # All in one run, each fault with another n: a good case separates any two.
    cases = [f"{kind}/ranks:2/n:{n}" for n, kind in enumerate(REASONS)]
    good = [f"good/ranks:2/n:{n}" for n in range(len(cases) + 1)]
    for _ in range(ROUNDS):
        document = faults.measure(
            f"--benchmark_filter=^rank_fault/({'|'.join(cases + good)})$",
            *("--rank_timeout_seconds=5", *PAPER),
            code=1,
            env={"TMPDIR": str(empty)},
        )
        errors = {row["name"]: row["reason"] for row in document["errors"]}
        assert list(errors) == [f"rank_fault/{case}" for case in cases]
        for found, reason in zip(errors.values(), REASONS.values(), strict=True):
            assert found.startswith(reason)
        # The case after each fault is not affected.
        assert names(measured(document)) == [f"rank_fault/{case}" for case in good]
        assert ranks_in(faults.directory) == []
        assert list(empty.iterdir()) == []


def test_ranks_that_all_hang_end_with_the_timeout(faults: Program) -> None:
    case = "--benchmark_filter=^rank_fault/endless/ranks:2/n:0$"
    document = faults.measure(case, "--child_timeout_seconds=4", *PAPER, code=1)
    (error,) = document["errors"]
    assert "rank 0 did not answer" in error["reason"]
    assert "rank 1 did not answer" in error["reason"]
    assert "4 s" in error["reason"]
    assert ranks_in(faults.directory) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_rank_outlives_the_program(
    faults: Program,
    empty: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
) -> None:
    monkeypatch.setenv("TMPDIR", str(empty))
    for n in range(ROUNDS):
        case = f"--benchmark_filter=^rank_fault/asleep/ranks:2/n:{n}$"
        with faults.started(case, *PAPER, OUT) as process:
            assert wait_until(lambda: len(ranks_in(faults.directory)) == 2)
            # Sends it at a different time in each round.
            time.sleep(0.1 * (n % 10))
            process.send_signal(number)
            process.communicate(timeout=600)
            assert process.returncode == -number
        assert wait_until(lambda: ranks_in(faults.directory) == [])
        assert list(empty.iterdir()) == []
        faults.result()  # it can be read
