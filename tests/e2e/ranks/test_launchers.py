# SPDX-License-Identifier: MIT
"""Ranks started by an external launcher, on this machine and on two machines."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from launcher import free_port, local_ranks, rank_variables, run_all
from processes import run
from program import FAST, OUT, Program, measured, names

SUM = "--benchmark_filter=^all_reduce/gloo/.*bytes:65536$"
SUM_NAME = "all_reduce/gloo/ranks:2/bytes:65536"


def test_only_rank_zero_reports(trainbench: Program) -> None:
    finished = run_all(
        trainbench,
        local_ranks(3),
        "--benchmark_filter=^(harness/empty|all_reduce/gloo/.*bytes:65536$)",
        "--suite=smoke",
        OUT,
        "--benchmark_repetitions=2",
        "--threads=3",
        *FAST,
    )
    assert [done.returncode for done in finished] == [0, 0, 0], finished
    first, *others = finished
    assert all(done.stdout == done.stderr == "" for done in others)
    # The launcher says how many ranks there are.
    name = SUM_NAME.replace("ranks:2", "ranks:3")
    assert name in first.stdout
    document = trainbench.result()
    rows = measured(document)
    assert names(rows) == [name, name]
    assert all((row["ranks"], row["threads_per_rank"]) == (3, 1) for row in rows)
    # What runs in one process is skipped.
    assert {row["name"] for row in document["skipped"]} == {"harness/empty"}
    assert "without a launcher" in document["skipped"][0]["reason"]


def test_a_rank_that_fails_is_named_and_the_next_case_runs(faults: Program) -> None:
    first, second = run_all(
        faults,
        local_ranks(2),
        "--benchmark_filter=^rank_fault/(throws|throws_in_build|wrong|good)/.*n:0$",
        OUT,
        *FAST,
        "--suite=paper",
        "--rank_timeout_seconds=5",
    )
    assert (first.returncode, second.returncode) == (1, 1), first.stderr + second.stderr
    document = faults.result()
    reasons = {row["name"]: row["reason"] for row in document["errors"]}
    assert reasons == {
        "rank_fault/throws/ranks:2/n:0": "rank 1: no third call",
        "rank_fault/throws_in_build/ranks:2/n:0": "rank 1: cannot be built",
        "rank_fault/wrong/ranks:2/n:0": "rank 1: wrong result: the sum is 3, "
        "should be 4",
    }
    assert names(measured(document)) == ["rank_fault/good/ranks:2/n:0"]


@pytest.mark.parametrize(
    "flag", ["--ranks=3", "--rounds=4", "--benchmark_enable_random_interleaving=true"]
)
def test_flags_with_which_the_ranks_would_differ_are_refused(
    trainbench: Program, flag: str
) -> None:
    done = trainbench.run(SUM, flag, code=2, env=rank_variables(0, 2, 29500))
    assert flag.partition("=")[0] in done.stderr


SOON = ("--rank_timeout_seconds=1", "--max_case_seconds=0.5")


def test_a_server_that_is_not_there_is_an_error_in_time(trainbench: Program) -> None:
    env = rank_variables(1, 2, free_port())
    done = trainbench.run(SUM, *SOON, code=2, env=env)
    assert "no rendezvous at 127.0.0.1" in done.stderr


def test_a_rank_that_never_comes_is_waited_for_once(trainbench: Program) -> None:
    flags = ("--suite=full", "--benchmark_filter=^all_reduce/gloo/", *SOON)
    env = rank_variables(0, 2, free_port())
    document = trainbench.measure(*flags, code=1, env=env)
    assert "rounds=1" in document["context"]["sampling"]
    assert "min_time=1 " in document["context"]["sampling"]
    errors = document["errors"]
    assert len(errors) == 5
    for error in errors:
        assert error["reason"].startswith("rank 1 did not join: ")
        assert "frame #" not in error["reason"]
    # The ranks tried to meet only once; five attempts would take five times as long.
    assert len({error["reason"] for error in errors}) == 1


def test_torchrun(trainbench: Program) -> None:
    pytest.importorskip("torch", exc_type=ImportError)
    torchrun = Path(sys.executable).parent / "torchrun"
    done = run(
        torchrun,
        *("--no-python", "--nproc-per-node=2", f"--master-port={free_port()}"),
        *trainbench.command(SUM, "--suite=smoke", OUT, *FAST),
        cwd=trainbench.directory,
        env=trainbench.environment(),
    )
    assert done.stdout.count(SUM_NAME) == 1
    (row,) = measured(trainbench.result())
    assert row["name"] == SUM_NAME


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@pytest.fixture
def two_nodes() -> Iterator[list[tuple[str, str]]]:
    """Yields (name, address) of two network namespaces joined only by a cable."""
    if shutil.which("ip") is None:
        pytest.skip("two nodes need the program ip (iproute2)")
    mine = f"trainbench{os.getpid()}"
    nodes = [(f"{mine}a", "10.77.0.1"), (f"{mine}b", "10.77.0.2")]
    made: list[str] = []
    try:
        try:
            for name, _ in nodes:
                ip("netns", "add", name)
                made.append(name)
            first, second = (name for name, _ in nodes)
            ends = f"tb0 netns {first} type veth peer tb1 netns {second}"
            ip("link", "add", *ends.split())
            for i, (name, address) in enumerate(nodes):
                ip("-n", name, "address", "add", f"{address}/24", "dev", f"tb{i}")
                ip("-n", name, "link", "set", f"tb{i}", "up")
                ip("-n", name, "link", "set", "lo", "up")
        except subprocess.CalledProcessError as error:
            reason = error.stderr.decode().strip()
            pytest.skip(f"no network namespaces here: {reason}")
        yield nodes
    finally:
        for name in made:
            ip("netns", "delete", name)


def test_two_nodes(trainbench: Program, two_nodes: list[tuple[str, str]]) -> None:
    divided = "^(fsdp|tensor_parallel)/.*ranks:2/"  # steps that two ranks divide
    address = two_nodes[0][1]
    variables = [
        rank_variables(rank, 2, 29511, address)
        | {"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"}
        for rank in range(2)
    ]
    first, second = run_all(
        trainbench,
        variables,
        f"{SUM}|{divided}",
        "--suite=smoke",
        OUT,
        "--threads=2",
        *FAST,
        prefixes=[["ip", "netns", "exec", name] for name, _ in two_nodes],
    )
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert second.stdout == ""
    rows = measured(trainbench.result())
    experiments = [row["name"].partition("/")[0] for row in rows]
    assert experiments == ["all_reduce", "fsdp", "tensor_parallel"]
    # Each node has its own processors; ranks on one machine would share them.
    assert all(row["threads_per_rank"] == 2 for row in rows)
