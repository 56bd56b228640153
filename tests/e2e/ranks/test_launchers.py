# SPDX-License-Identifier: MIT
"""Ranks started by an external launcher, on this machine and on two machines."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from launcher import free_port, rank_variables, run_all
from program import Program, load, measured, names

FAST = ("--benchmark_min_time=0.001", "--warmup=1")
SUM = "--benchmark_filter=^all_reduce/gloo/.*bytes:65536$"
SUM_NAME = "all_reduce/gloo/ranks:2/bytes:65536"


def ours(port: int, address: str = "127.0.0.1") -> list[dict[str, str]]:
    return [rank_variables(rank, 2, address, port) for rank in range(2)]


def test_only_rank_zero_reports(trainbench: Program) -> None:
    first, second = run_all(
        trainbench,
        ours(free_port()),
        SUM,
        "--suite=smoke",
        "--benchmark_out=a.json",
        "--benchmark_repetitions=2",
        "--threads=2",
        *FAST,
    )
    assert (first.code, second.code) == (0, 0), first.err + second.err
    assert SUM_NAME in first.out
    assert second.out == second.err == ""
    rows = measured(load(trainbench.directory / "a.json"))
    assert names(rows) == [SUM_NAME, SUM_NAME]
    assert all(row["ranks"] == 2 for row in rows)
    assert all(row["threads_per_rank"] == 1 for row in rows)


def test_the_launcher_says_how_many_ranks_there_are(trainbench: Program) -> None:
    variables = [
        rank_variables(rank, 3, "127.0.0.1", port)
        for port in [free_port()]
        for rank in range(3)
    ]
    first, *_ = run_all(trainbench, variables, SUM[:-1].replace("65536", "1024"), *FAST)
    assert first.code == 0, first.err
    assert "all_reduce/gloo/ranks:3/bytes:1024" in first.out


def test_what_runs_in_one_process_is_skipped(trainbench: Program) -> None:
    first, second = run_all(
        trainbench,
        ours(free_port()),
        "--benchmark_filter=^(harness/empty|all_reduce)",
        "--suite=smoke",
        "--benchmark_out=a.json",
        *FAST,
    )
    assert (first.code, second.code) == (0, 0), first.err + second.err
    document = load(trainbench.directory / "a.json")
    assert names(measured(document)) == [SUM_NAME]
    assert "without a launcher" in document["skipped"][0]["reason"]


def test_a_launch_of_one_process_is_none(trainbench: Program) -> None:
    done = trainbench.run(
        "--benchmark_filter=^harness/empty",
        "--suite=smoke",
        env=rank_variables(0, 1, "127.0.0.1", 29500),
    )
    assert done.code == 0, done.err
    assert "1 measured" in done.out


def test_a_rank_that_fails_is_named_and_the_next_case_runs(faults: Program) -> None:
    first, second = run_all(
        faults,
        ours(free_port()),
        "--benchmark_filter=^rank_fault/(throws|throws_in_build|wrong|good)/.*n:0$",
        "--benchmark_out=a.json",
        *FAST,
        "--suite=paper",
        "--rank_timeout_seconds=5",
    )
    assert (first.code, second.code) == (1, 1), first.err + second.err
    document = load(faults.directory / "a.json")
    reasons = {row["name"]: row["reason"] for row in document["errors"]}
    assert reasons == {
        "rank_fault/throws/ranks:2/n:0": "rank 1: no third call",
        "rank_fault/throws_in_build/ranks:2/n:0": "rank 1: cannot be built",
        "rank_fault/wrong/ranks:2/n:0": "rank 1: wrong result: the sum is 3, "
        "should be 4",
    }
    assert names(measured(document)) == ["rank_fault/good/ranks:2/n:0"]


@pytest.mark.parametrize(
    "change, complaint",
    [
        ({"RANK": "2"}, "RANK is '2'; allowed: a number from 0 to 1"),
        ({"RANK": "one"}, "RANK is 'one'"),
        ({"WORLD_SIZE": "0"}, "WORLD_SIZE is '0'; allowed: a number from 1"),
        ({"MASTER_PORT": "70000"}, "MASTER_PORT is '70000'"),
        ({"MASTER_ADDR": ""}, "MASTER_ADDR is not set"),
        ({"LOCAL_RANK": "-1"}, "LOCAL_RANK is '-1'"),
    ],
)
def test_a_bad_variable_is_wrong_usage(
    trainbench: Program, change: dict[str, str], complaint: str
) -> None:
    variables = rank_variables(0, 2, "127.0.0.1", 29500) | change
    done = trainbench.run(SUM, env=variables)
    assert done.code == 2
    assert complaint in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    "flag", ["--ranks=3", "--benchmark_enable_random_interleaving=true"]
)
def test_flags_with_which_the_ranks_would_differ_are_refused(
    trainbench: Program, flag: str
) -> None:
    done = trainbench.run(SUM, flag, env=rank_variables(0, 2, "127.0.0.1", 29500))
    assert done.code == 2
    assert flag.partition("=")[0] in done.err


SOON = ("--rank_timeout_seconds=1", "--max_case_seconds=0.5")


def test_a_server_that_is_not_there_is_an_error_in_time(trainbench: Program) -> None:
    done = trainbench.run(
        SUM, *SOON, env=rank_variables(1, 2, "127.0.0.1", free_port())
    )
    assert done.code == 2
    assert "no rendezvous at 127.0.0.1" in done.err


def test_a_host_that_nobody_knows_is_an_error_at_once(trainbench: Program) -> None:
    done = trainbench.run(SUM, env=rank_variables(0, 2, "nosuch.invalid", 29500))
    assert done.code == 2
    assert "MASTER_ADDR is 'nosuch.invalid'" in done.err
    assert len(done.err.splitlines()) == 1


def test_a_rank_that_never_comes_is_waited_for_once(trainbench: Program) -> None:
    done = trainbench.run(
        "--suite=full",
        "--benchmark_filter=^all_reduce/gloo/",
        *SOON,
        "--benchmark_out=a.json",
        env=rank_variables(0, 2, "127.0.0.1", free_port()),
    )
    assert done.code == 1
    errors = load(trainbench.directory / "a.json")["errors"]
    assert len(errors) == 5
    for error in errors:
        assert error["reason"].startswith("rank 1 did not join: ")
        assert "frame #" not in error["reason"]
    # The ranks tried to meet only once; five attempts would take five times as long.
    assert len({error["reason"] for error in errors}) == 1


def test_torchrun(trainbench: Program) -> None:
    torchrun = Path(sys.executable).parent / "torchrun"
    done = subprocess.run(
        [
            str(torchrun),
            "--no-python",
            "--nproc-per-node=2",
            f"--master-port={free_port()}",
            *trainbench.command(SUM, "--suite=smoke", "--benchmark_out=a.json", *FAST),
        ],
        cwd=trainbench.directory,
        env=trainbench.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(SUM_NAME) == 1
    (row,) = measured(load(trainbench.directory / "a.json"))
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
            ip(
                "link",
                "add",
                "tb0",
                "netns",
                first,
                "type",
                "veth",
                "peer",
                "tb1",
                "netns",
                second,
            )
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
        rank_variables(rank, 2, address, 29511)
        | {"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"}
        for rank in range(2)
    ]
    first, second = run_all(
        trainbench,
        variables,
        f"{SUM}|{divided}",
        "--suite=smoke",
        "--benchmark_out=a.json",
        "--threads=2",
        *FAST,
        prefixes=[["ip", "netns", "exec", name] for name, _ in two_nodes],
    )
    assert (first.code, second.code) == (0, 0), first.err + second.err
    assert second.out == ""
    rows = measured(load(trainbench.directory / "a.json"))
    experiments = [row["name"].partition("/")[0] for row in rows]
    assert experiments == ["all_reduce", "fsdp", "tensor_parallel"]
    # Each node has its own processors; ranks on one machine would share them.
    assert all(row["threads_per_rank"] == 2 for row in rows)
