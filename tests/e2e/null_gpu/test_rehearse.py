# SPDX-License-Identifier: MIT
"""tools/rehearse with the built program and the null GPU."""

from pathlib import Path

from null_gpu import library
from plan_program import plan_row
from program import NANO, Program, Rehearse
from reports.results.result_file import load
from reports.results.rows import Result
from tools.rehearsal.main import main


def test_a_step_is_told_in_full(rehearse: Rehearse) -> None:
    step = "--benchmark_filter=^model_size/nano/fp32/train_step/"
    (case,) = rehearse("--gpu=h100", *NANO, step)
    assert case["fits"] and case["status"] == "good"
    phases = {phase["name"]: phase for phase in case["phases"]}
    assert list(phases) == ["forward", "loss", "backward", "optimizer"]
    for phase in phases.values():
        launches = [kernel["launches"] for kernel in phase["kernels"]]
        assert launches == sorted(launches, reverse=True)
        assert sum(launches) == phase["counters"]["launches"] > 0
    # One block with four projections, two attention products and three products of the
    # feed-forward layer, and the head.
    assert phases["forward"]["families"]["fp32 product"] == 10
    assert phases["backward"]["families"]["fp32 product"] == 20
    assert 0 < case["tensor_bytes"] < case["reserved_bytes"]
    assert case["host_us"] > 0
    least = {c["name"]: c["computed_least_us"] for c in case["components"]}
    assert least.keys() > {"embedding", "scores", "ffn", "lm_head", "optimizer"}
    assert min(least.values()) > 0


def test_no_byte_of_an_earlier_call_counts(rehearse: Rehearse) -> None:
    product = "--benchmark_filter=^peak/matmul/fp32/m:256/n:256/k:256"
    (case,) = rehearse("--gpu=h100", "--suite=smoke", product)
    assert case["tensor_bytes"] == 3 * 256 * 256 * 4


def test_a_step_that_does_not_fit_ends_somewhere(rehearse: Rehearse) -> None:
    (case,) = rehearse(
        *("--gpu=a100-40", "--suite=paper", "--models=2.7B", "--seq=1024"),
        "--benchmark_filter=^model_size/2.7B/fp32/train_step/",
    )
    assert case["status"] == "skipped" and not case["fits"]
    assert "GiB are free" in case["reason"]
    end = case["out_of_memory"]
    assert end["allocated_bytes"] + end["requested_bytes"] > 0.9 * case["free_bytes"]
    # Weights and moments alone take 38 GiB.
    assert end["phase"] == "forward" and end["operator"].startswith("aten::")


def test_ranks_are_rehearsed_by_the_first(rehearse: Rehearse) -> None:
    step = "--benchmark_filter=^sharded_optimizer/replicated/"
    (case,) = rehearse("--gpu=h100", "--ranks=2", *NANO, step)
    assert sum(p["counters"]["collectives"] for p in case["phases"]) == 1


def predicted(trainbench: Program, out: Path, *flags: str) -> Result:
    given = ["--gpu=h100", "--times=predicted", *flags, f"--benchmark_out={out}"]
    assert main(given, trainbench.path, library()) == 0
    return load(out)


def test_times_are_predicted(trainbench: Program, tmp_path: Path) -> None:
    """Kernels take what tools/plan predicts, except for the host's part in it. The
    step's own depends on how fast this host enqueues them."""
    model = "name=m,d_model=1024,d_ff=4096,layers=4,heads=16,vocab=1024"
    step = ("--models=m", "--batch=8", "--seq=512", "--precision=bf16")
    for implementation in ("library", "fused"):
        own = f"--model={model},implementation={implementation}"
        result = predicted(
            trainbench,
            tmp_path / "predicted.json",
            *(own, *step, "--mode=forward_backward", "--benchmark_filter=^breakdown/"),
        )
        assert result.context["device"] == "NVIDIA H100 80GB HBM3 (predicted)"
        assert {row.findings["times"] for row in result.rows} == {"predicted"}
        row = plan_row(own, *step, "--mode=forward_backward", "--rates=h100")
        planned = row["time"]["predicted_us"]
        (profile,) = result.profiles
        kernels = sum(kernel.total_us for kernel in profile.kernels)
        assert 0.65 < kernels / planned < 1.25, implementation


def test_a_call_without_work_has_no_predicted_time(
    trainbench: Program, tmp_path: Path
) -> None:
    flags = ("--suite=smoke", "--benchmark_filter=^harness/(empty|spin)")
    result = predicted(trainbench, tmp_path / "predicted.json", *flags)
    assert [row.name for row in result.rows] == ["harness/spin/us:1000"]
    (skipped,) = result.skipped
    assert skipped.reason == "an empty call has no predicted time"
