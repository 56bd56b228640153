# SPDX-License-Identifier: MIT
"""NCCL ranks, each on its own null GPU."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from launcher import local_ranks, run_all
from null_gpu import FLAGS, in_order, null_gpu, processes_without_accesses
from processes import Finished
from program import NANO, OUT, Json, Program, load_lines, measured, without

SUM = "--benchmark_filter=^all_reduce/nccl/.*bytes:65536$"
# A model with one layer, and one warm-up call.
FAST = (*without(NANO, "--benchmark_min_time"), *FLAGS, OUT)


def calls(report: Path) -> Counter[str]:
    """Returns the calls of each function, summed over all processes."""
    total: Counter[str] = Counter()
    for process in load_lines(report):
        total.update(process["calls"])
    return total


@pytest.mark.parametrize("ranks", [1, 2])
def test_every_case_of_nccl_runs(trainbench: Program, ranks: int) -> None:
    """Also checks access order: compute and collectives share memory across streams."""
    report = trainbench.directory / "report.jsonl"
    trainbench.run(
        "--benchmark_filter=^(all_reduce/nccl|ddp.*|sharded_.*|fsdp|tensor_.*)/",
        f"--ranks={ranks}",
        *FAST,
        env=null_gpu(count=2, **in_order(report)),
    )
    assert processes_without_accesses(report) == []
    document = trainbench.result()
    assert (document["errors"], document["skipped"]) == ([], [])
    rows = measured(document)
    assert {row["name"].partition("/")[0] for row in rows} == {
        "all_reduce",
        "ddp",
        "ddp_equivalence",
        "fsdp",
        "sharded_optimizer",
        "tensor_parallel",
    }
    one_process = re.compile("/(alone|whole_batch)/")
    together = [row for row in rows if not one_process.search(row["name"])]
    assert {row["ranks"] for row in together} == {ranks}


@dataclass(frozen=True)
class Eight:
    rows: list[Json]
    calls: Counter[str]

    def of(self, experiment: str) -> list[Json]:
        return [row for row in self.rows if row["name"].startswith(f"{experiment}/")]


@pytest.fixture(scope="module")
def eight(shared: Program) -> Eight:
    """Runs all cases in the same processes, as eight take long to start."""
    report = shared.directory / "report.jsonl"
    gpus = null_gpu(count=8, TRAINBENCH_NULL_GPU_REPORT=str(report))
    finished = run_all(
        shared,
        local_ranks(8, **gpus),
        "--benchmark_filter=^(tensor_parallel/wide/fp32|all_reduce/nccl"
        "|fsdp/everything/wide/.*/(reshard:0/prefetch:0|reshard:1/prefetch:1))/",
        *("--suite=paper", "--bytes=65536", "--data=1,2", "--samples=1"),
        "--model=name=wide,d_model=64,d_ff=128,layers=1,heads=8,vocab=64",
        "--models=wide",
        "--warmup=0",
        *without(FAST, "--suite", "--models", "--model", "--warmup"),
    )
    assert [done.returncode for done in finished] == 8 * [0], finished[0].stderr
    document = shared.result()
    assert (document["errors"], document["skipped"]) == ([], [])
    return Eight(measured(document), calls(report))


def test_eight_ranks_share_models(eight: Eight) -> None:
    """Eight ranks share one model, or form two replicas of four ranks."""
    rows = eight.of("tensor_parallel")
    assert [(row["ranks"], row["data"]) for row in rows] == [(8, 1), (8, 2)]
    for row in rows:
        assert row["sent_bytes"] == row["predicted_sent_bytes"] > 0
        # Embedding; forward and backward of two sublayers; the head; the loss.
        assert row["tensor_calls_per_step"] == 1 + 4 + 1 + 2


def test_eight_ranks_meet(eight: Eight) -> None:
    (row,) = eight.of("all_reduce")
    assert row["ranks"] == 8


def test_eight_ranks_divide_everything(eight: Eight) -> None:
    """NCCL gathers and reduces each unit as often as the row says."""
    rows = eight.of("fsdp")
    assert len(rows) == 3  # no resharding or prefetching; both; both in bf16
    assert {row["reshard"] for row in rows} == {0, 1}
    for row in rows:
        assert row["ranks"] == 8
        assert row["sent_bytes"] == row["predicted_sent_bytes"] > 0
        # One layer, the embedding and the head.
        assert row["gather_calls_per_step"] == 3 + row["reshard"]
        assert row["reduce_calls_per_step"] == 3
    assert eight.calls["ncclAllGather"] > 0 and eight.calls["ncclReduceScatter"] > 0


def test_ranks_decide_without_the_gpu_and_leave_it_in_order(
    trainbench: Program,
) -> None:
    """NCCL is only used for what is measured."""
    report = trainbench.directory / "report.jsonl"
    done = trainbench.run(
        SUM, *FAST, env=null_gpu(count=2, TRAINBENCH_NULL_GPU_REPORT=str(report))
    )
    called = calls(report)
    no_collectives = ("ncclComm", "ncclGet", "ncclGroup")
    collectives = {
        name
        for name in called
        if name.startswith("nccl") and not name.startswith(no_collectives)
    }
    assert collectives == {"ncclAllReduce"}
    # c10d's default way of ending aborts, and warns.
    assert called["ncclCommFinalize"] == called["ncclCommDestroy"] == 2
    assert called["ncclCommAbort"] == 0
    assert "destroy_process_group" not in done.stderr


def run_two(
    trainbench: Program, fault_of_rank_1: str, sizes: str = "65536"
) -> list[Finished]:
    """Runs two ranks as a launcher would start them."""
    variables = local_ranks(2, **null_gpu(count=2))
    variables[1] |= null_gpu(count=2, fault=fault_of_rank_1)
    cases = ("--benchmark_filter=^all_reduce/nccl/", f"--bytes={sizes}")
    return run_all(trainbench, variables, *cases, "--rank_timeout_seconds=10", *FAST)


def test_a_rank_whose_collective_finds_no_memory_is_named(trainbench: Program) -> None:
    first, second = run_two(trainbench, "nccl:3=out_of_memory")
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    (skipped,) = trainbench.result()["skipped"]
    found = "rank 1: NCCL error in.*Cuda failure 2 'out of memory'"
    assert re.search(found, skipped["reason"], re.DOTALL)


def test_a_collective_that_fails_costs_its_case_only(trainbench: Program) -> None:
    """c10d would take the rank down, and with it all its cases."""
    finished = run_two(trainbench, "nccl:3=remote_error", "65536,131072")
    assert [done.returncode for done in finished] == [1, 1], finished
    result = trainbench.result()
    (error,) = result["errors"]
    assert error["reason"].startswith("rank 1: NCCL communicator was aborted")
    assert len(measured(result)) == 1


def test_a_failure_of_the_last_collective_is_every_ranks(trainbench: Program) -> None:
    """No later one finds it, but the time of the last call is wrong."""
    report = trainbench.directory / "report.jsonl"
    gpus = null_gpu(count=2, TRAINBENCH_NULL_GPU_REPORT=str(report))
    trainbench.run(SUM, *FAST, env=gpus)
    last = calls(report)["ncclAllReduce"] // 2
    finished = run_two(trainbench, f"nccl:{last}=remote_error")
    assert [done.returncode for done in finished] == [1, 1], finished
    (error,) = trainbench.result()["errors"]
    assert re.match("rank [01]: a collective of NCCL failed", error["reason"])


def test_a_rank_takes_the_only_gpu_that_it_sees(trainbench: Program) -> None:
    ranks = local_ranks(2, **null_gpu(count=1))
    finished = run_all(trainbench, ranks, SUM, *FAST)
    assert [done.returncode for done in finished] == [0, 0], finished[1].stderr
    assert len(measured(trainbench.result())) == 1


def test_collectives_that_never_end_end_the_case(trainbench: Program) -> None:
    env = null_gpu(count=2, fault="nccl:3=never")
    trainbench.run(SUM, "--rank_timeout_seconds=10", *FAST, code=1, env=env)
    (error,) = trainbench.result()["errors"]
    assert re.match("rank [01].*collective operation timeout", error["reason"])
