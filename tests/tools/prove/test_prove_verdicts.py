# SPDX-License-Identifier: MIT
"""tools/prove: its verdicts on the files that a stage leaves."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from golden import check_golden
from results import document, failure, write
from tools.prove import identity, verdicts
from tools.prove.readings import Json, Seen

Reading = Callable[[Seen], list[str]]

REPORT = """<testsuites>
<testsuite><testcase name="A" classname="Cuda" status="run"/>
<testcase name="B" classname="Cuda" status="run"><failure message="no"/></testcase>
<testcase name="C" classname="Cuda" status="run"><skipped/></testcase>
<testcase name="D" classname="Cuda" status="notrun"/></testsuite></testsuites>
"""


def row(name: str, time: float = 0, **counters: Any) -> dict[str, Any]:
    return {"name": name, "run_type": "iteration", "p50_us": time, **counters}


def store(folder: Path, name: str, *rows: dict[str, Any], **lists: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / f"{name}.json", document(*rows, **lists))


NVIDIA_LOG = """========= ERROR SUMMARY: 2 errors
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
  void trainbench::kernels::Run<trainbench::kernels::FlashBf16Forward<64, A>>\
(T1::Args) (256, 1, 1)x(128, 1, 1), Context 1, Stream 7, Device 0, CC 9.0
    DRAM Throughput                 %        12.34
    Duration                       us     1,234.50
    Duration                       ms         9.90
    Compute (SM) Throughput         %        61.20
"""


def test_what_is_said_of_each_kind_of_stage(tmp_path: Path) -> None:
    printed: dict[str, str] = {}

    def say(name: str, reading: Reading, folder: str, steps: Sequence[Json]) -> None:
        found = reading(Seen(tmp_path / folder, list(steps)))
        printed[name] = "\n".join(found)

    store(
        tmp_path / "smoke",
        "smoke",
        row("a/1", findings={}),
        row("a/2", findings={"wrong": "gradients 0.12 > 0.1"}),
        skipped=[failure(f"b/{i}", "needs 2 GPUs") for i in (1, 2)],
        errors=[failure("c", "out of memory")],
        complete=False,
    )
    say("rows", verdicts.rows, "smoke", ())
    say("no rows", verdicts.rows, "elsewhere", ())
    step = {"command": ["a_test", "--gtest_output=xml:a"]}
    say("an emulator without a report", verdicts.device, "elsewhere", [step])
    (tmp_path / "device").mkdir()
    (tmp_path / "device/a_test.xml").write_text(REPORT)
    (tmp_path / "device/b_test.xml").write_text("<testsuites/>")
    say("tests, and a crash is no success", verdicts.device, "device", [step] * 3)
    errors = [row("a", output_error=1e-3), row("b", output_error=2e-3, update_error=0)]
    store(tmp_path / "errors", "attention", *errors)
    say("the largest errors", verdicts.errors, "errors", ())
    store(
        tmp_path / "03-rates",
        "rates",
        row("harness/spin/us:100", 108, us=100),
        row("harness/spin/us:1000", 985, us=1000, sm_clock_mhz=1755),
        row("peak/matmul/bf16/m:1", 1, flops_per_second=7.4e14),
        row("peak/matmul/bf16/m:2", 1, flops_per_second=7.6e14),
        row("peak/copy/size:1", 1, bytes_per_second=3.9e12),
    )
    say("rates and their targets", verdicts.rates, "03-rates", ())
    fused = "implementations/fused/2.7B/bf16_autocast/forward_backward/batch:4/seq:512"
    own = "flash_attention/own/bf16/forward_backward/heads:16/seq:16384/d_head:64"
    textbook = fused.replace("fused", "textbook")  # has no target
    large = (row(fused, 9e4), row(own, 7e3), row("optimizer/fused/2.7B", 0))
    store(tmp_path / "headline", "large", *large, row(textbook, 2e5))
    say("targets of the headline", verdicts.headline, "headline", ())
    later = (row("peak/copy/size:1", 0.95), row("harness/spin/us:1000", 995))
    store(tmp_path / "10-aftermath", "new_process", *later, row("c", 1))
    say("the largest change", verdicts.aftermath, "10-aftermath", ())
    part = "breakdown/small/fp32/train_step/step"
    kernels = [{"family": "bf16", "name": "gemm"}, {"family": "other", "name": "fill"}]
    store(
        tmp_path / "breakdown",
        "breakdown",
        row(f"{part}/all/batch:4", 100),
        row(f"{part}/unattributed/batch:4", 3),
        errors=[failure("x", "the profiler dropped the others")],
        profiles=[{"kernels": kernels}, {"kernels": kernels[:1]}],
    )
    say("what a breakdown lost", verdicts.breakdown, "breakdown", ())
    log = tmp_path / "log.txt"
    log.write_text(NVIDIA_LOG)
    say("compute-sanitizer", verdicts.sanitizer, "", [{}] * 6)
    say("Nsight Compute", verdicts.counters, "", [{}] * 6)
    log.write_text("==ERROR== ERR_NVGPUCTRPERM - no permission\n")
    say("Nsight Compute without permission", verdicts.counters, "", [{}] * 6)
    side = {"v_eager": 1.125, "interval": None, "v_compile": 0.9, "peak_bytes": 9e8}
    (tmp_path / "peers").mkdir()
    write(tmp_path / "peers/peers.json", {"steps": [{"cells": {"textbook": side}}]})
    say("peers", verdicts.peers, "peers", ())
    check_golden("prove.txt", printed)


def test_identity_finds_what_a_machine_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "sh").symlink_to("/bin/sh")
    (tmp_path / "without_name.dist-info").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    identity.main(programs, tmp_path / "identity.json")
    store(tmp_path, "second")
    steps = [{"seconds": s} for s in (0.1, 23.0, 4.0)]
    found = verdicts.identity(Seen(tmp_path, steps))
    assert found[1].startswith("torch 2.11.0, CUPTI ")
    assert found[2] == "first start 23.0 s, second 4.0 s"
    assert "numpy" in identity.wheels()
