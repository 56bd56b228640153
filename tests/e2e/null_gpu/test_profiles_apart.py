# SPDX-License-Identifier: MIT
"""On a GPU a row is profiled in a process of its own: checked on a null GPU."""

from null_gpu import FLAGS, null_gpu
from program import NANO, Program, measured, without


def test_a_kernel_is_profiled_once_and_each_row_says_where(trainbench: Program) -> None:
    document = trainbench.measure(
        *(*FLAGS, *without(NANO, "--models", "--seq", "--benchmark_min_time")),
        *("--models=nano,tiny", "--benchmark_filter=^(precision|optimizer)/"),
        "--seq=8,16",
        env=null_gpu(),
    )
    rows = {row["name"]: row for row in measured(document)}
    for precision in ("fp32", "bf16"):
        for model in ("nano", "tiny"):
            first, second = (
                f"precision/{model}/{precision}/forward_backward/batch:1/seq:{seq}"
                for seq in (8, 16)
            )
            findings = rows[first]["findings"]
            assert precision in findings["kernels"] and "profiled" not in findings
            assert rows[second]["findings"]["kernels"] == findings["kernels"]
            assert rows[second]["findings"]["profiled"] == first
    counts = {name: row for name, row in rows.items() if "kernels_per_step" in row}
    assert len(counts) == 4, "each model's step has kernels of its own"
    for name, row in counts.items():
        assert row["kernels_per_step"] > 0, name
        assert "profiled" not in row["findings"]
