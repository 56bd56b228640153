# SPDX-License-Identifier: MIT
"""tools/prove: what it says of the files that a stage leaves."""

import json
from pathlib import Path
from typing import Any

from tools.prove import identity, kernel_names, targets, verdicts
from tools.prove.readings import Seen

REPORT = """<testsuites>
<testsuite><testcase name="A" classname="Cuda" status="run"/>
<testcase name="B" classname="Cuda" status="run"><failure message="no"/></testcase>
<testcase name="C" classname="Cuda" status="run"><skipped/></testcase>
<testcase name="D" classname="Cuda" status="notrun"/></testsuite></testsuites>
"""


def row(name: str, time: float = 0, **counters: Any) -> dict[str, Any]:
    return {"name": name, "run_type": "iteration", "p50_us": time, **counters}


def write(folder: Path, name: str, *rows: dict[str, Any], **lists: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "context": {"torch": "2.11.0"},
        "benchmarks": list(rows),
        "skipped": [],
        "errors": [],
        "complete": True,
        **lists,
    }
    (folder / f"{name}.json").write_text(json.dumps(document))


def test_rows_are_counted_with_their_reasons(tmp_path: Path) -> None:
    write(
        tmp_path,
        "smoke",
        row("a/1", findings={}),
        row("a/2", findings={"wrong": "gradients 0.12 > 0.1"}),
        skipped=[{"name": f"b/{i}", "reason": "needs 2 GPUs"} for i in (1, 2)],
        errors=[{"name": "c", "reason": "out of memory"}],
        complete=False,
    )
    assert verdicts.rows(Seen(tmp_path, [])) == [
        "2 measured, 2 skipped, 1 failed, not complete",
        "1 wrong: a/2",
        "1 failed as c: out of memory",
        "2 skipped as b/1: needs 2 GPUs",
    ]
    assert verdicts.rows(Seen(tmp_path / "elsewhere", [])) == ["no result"]


def test_an_emulator_without_a_report_is_not_trusted(tmp_path: Path) -> None:
    step = {"command": ["kernels_gpu_test", "--gtest_output=xml:a"]}
    assert any(
        "--filter=-own" in line for line in verdicts.device(Seen(tmp_path, [step]))
    )


def test_tests_are_counted_and_a_crash_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "a_test.xml").write_text(REPORT)
    step = {"command": ["a_test", "--gtest_output=xml:a"]}
    assert verdicts.device(Seen(tmp_path, [step, step])) == [
        "1 passed, 1 skipped, 1 failed",
        "failed: Cuda.B",
        "1 of 2 programs left no report",
        "the emulator is another device: go on with --filter=-own",
    ]


def test_the_largest_error_is_named(tmp_path: Path) -> None:
    rows = [row("a", output_error=1e-3), row("b", output_error=2e-3, update_error=0.0)]
    write(tmp_path, "attention", *rows)
    found = verdicts.errors(Seen(tmp_path, []))
    assert found[1:3] == ["output_error 0.002 in b", "update_error 0 in b"]


def test_rates_are_held_to_their_targets(tmp_path: Path) -> None:
    write(
        tmp_path,
        "rates",
        row("harness/spin/us:100", 100.5, us=100),
        row("harness/spin/us:1000", 985, us=1000, sm_clock_mhz=1755),
        row("peak/matmul/bf16/m:1", 1, flops_per_second=7.4e14),
        row("peak/matmul/bf16/m:2", 1, flops_per_second=7.6e14),
        row("peak/copy/size:1", 1, bytes_per_second=3.9e12),
    )
    assert targets.rates(Seen(tmp_path, []))[:4] == [
        "spin 0.985 (1 +- 1 %) MISSED",
        "bf16 760 (>= 750 TFLOP/s)",
        "copy 3.9 (>= 4 TB/s) MISSED",
        "SM clock 1755 to 1755 MHz",
    ]


def test_the_headline_has_a_line_for_each_target(tmp_path: Path) -> None:
    step = "2.7B/bf16_autocast/forward_backward/batch:4/seq:512"
    attention = "flash_attention/own/bf16/forward_backward/heads:16/seq:16384"
    write(
        tmp_path,
        "large",
        row(f"implementations/fused/{step}", 9e4),
        row(f"{attention}/d_head:64", 7e3),
        row("optimizer/fused/2.7B", 0),
    )
    assert targets.headline(Seen(tmp_path, []))[:2] == [
        f"implementations/fused/{step} 90 (<= 108 ms)",
        f"{attention}/d_head:64 7 (<= 6 ms) MISSED",
    ]


def test_the_aftermath_is_the_largest_change(tmp_path: Path) -> None:
    write(tmp_path / "03-rates", "rates", row("harness/a", 100), row("peak/b", 200))
    here = tmp_path / "10-aftermath"
    write(here, "new_process", row("harness/a", 101), row("peak/b", 190), row("c", 1))
    found = targets.aftermath(Seen(here, []))
    assert found[0] == "2 rows, most -5.0% in peak/b"


def test_a_breakdown_says_what_was_lost(tmp_path: Path) -> None:
    part = "breakdown/small/fp32/train_step/step"
    kernels = [{"family": "bf16", "name": "gemm"}, {"family": "other", "name": "fill"}]
    write(
        tmp_path,
        "breakdown",
        row(f"{part}/all/batch:4", 100),
        row(f"{part}/unattributed/batch:4", 3),
        errors=[{"name": "x", "reason": "the profiler dropped the others"}],
        profiles=[{"kernels": kernels}, {"kernels": kernels[:1]}],
    )
    names = kernel_names.names(tmp_path / "breakdown.json")
    assert names == ["bf16\tgemm", "other\tfill"]
    (tmp_path / "kernel_names.txt").write_text("\n".join(names))
    assert verdicts.breakdown(Seen(tmp_path, []))[:3] == [
        "1 rows lost to dropped records",
        "unattributed 3.0% (<= 2 %)",
        "2 kernels: 1 bf16, 1 other",
    ]


def test_the_logs_of_nvidias_tools_are_read(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(
        "========= ERROR SUMMARY: 2 errors\n"
        "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n"
        "  void trainbench::kernels::Run<trainbench::kernels::FlashBf16Forward<64, A>>"
        "(T1::Args) (256, 1, 1)x(128, 1, 1), Context 1, Stream 7, Device 0, CC 9.0\n"
        "    DRAM Throughput                 %        12.34\n"
        "    Duration                       us     1,234.50\n"
        "    Duration                       ms         9.90\n"
        "    Compute (SM) Throughput         %        61.20\n"
    )
    seen = Seen(tmp_path, [{}] * 6)
    assert verdicts.sanitizer(seen) == ["2 errors and 1 hazards (0) in 2 of 6 runs"]
    assert verdicts.counters(seen) == [
        "FlashBf16Forward<64: DRAM 12.34 %, 1,234.50 us, SM 61.20 %"
    ]
    (tmp_path / "log.txt").write_text("==ERROR== ERR_NVGPUCTRPERM - no permission\n")
    assert verdicts.counters(seen) == ["no permission: ERR_NVGPUCTRPERM"]


def test_identity_finds_what_a_machine_lacks(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "sh").symlink_to("/bin/sh")
    identity.main(programs, tmp_path / "identity.json")
    write(tmp_path, "second")
    steps = [{"seconds": s} for s in (0.1, 23.0, 4.0)]
    found = verdicts.identity(Seen(tmp_path, steps))
    assert found[1].startswith("torch 2.11.0, CUPTI ")
    assert found[2] == "first start 23.0 s, second 4.0 s"
    assert "numpy" in identity.wheels()
