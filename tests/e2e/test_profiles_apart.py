# SPDX-License-Identifier: MIT
"""A process that has profiled on a GPU times no row: checked on a null GPU."""

from null_gpu import FLAGS, null_gpu
from program import NANO, Json, Program, load, measured, names, without

SMALL = without(NANO, "--models", "--benchmark_min_time")


def rows_of(trainbench: Program, *flags: str) -> list[Json]:
    done = trainbench.run(
        *FLAGS, *SMALL, "--benchmark_out=a.json", *flags, env=null_gpu()
    )
    document = load(trainbench.directory / "a.json")
    assert done.code == 0, document["errors"]
    return measured(document)


def test_a_kernel_is_profiled_once_and_each_row_says_where(trainbench: Program) -> None:
    rows = rows_of(
        trainbench, "--models=nano,tiny", "--benchmark_filter=^(precision|optimizer)/"
    )
    findings = {row["name"]: row["findings"] for row in rows}
    for precision in ("fp32", "bf16"):
        first, second = (
            f"precision/{model}/{precision}/forward_backward/batch:1/seq:8"
            for model in ("nano", "tiny")
        )
        kernels = findings[first]["kernels"]
        assert precision in kernels and "profiled" not in findings[first]
        assert findings[second]["kernels"] == kernels
        assert findings[second]["profiled"] == first
    counts = {row["name"]: row for row in rows if "kernels_per_step" in row}
    assert len(counts) == 4, "each model's step has kernels of its own"
    for name, row in counts.items():
        assert row["kernels_per_step"] > 0, name
        assert "profiled" not in row["findings"]


def test_the_passes_of_breakdown_come_after_all_timed_rows(trainbench: Program) -> None:
    only = "--benchmark_filter=^(breakdown|harness|attention_scaling)/"
    for order in ([], ["--shuffle=1"], ["--shuffle=2"]):
        found = names(rows_of(trainbench, "--models=nano", only, *order))
        shared = [
            name.startswith("breakdown/") and "/timed/" not in name for name in found
        ]
        assert any(shared) and not all(shared)
        assert shared == sorted(shared)


def test_rows_of_a_pass_and_timed_rows_are_not_mixed(trainbench: Program) -> None:
    done = trainbench.run(
        *FLAGS,
        *SMALL,
        "--models=nano",
        "--benchmark_filter=^(breakdown|harness)/",
        "--benchmark_enable_random_interleaving=true",
        env=null_gpu(),
    )
    assert done.code == 2
    assert "no case can be timed after its profile" in done.err
