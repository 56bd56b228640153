# SPDX-License-Identifier: MIT
"""The table of a step: its sides, their turns, and the text of a cell."""

import signal
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from golden import check_golden, refusals
from processes import is_running, wait_until
from stub_checkout import ROOT, write_script
from tools.peers import step_table
from tools.peers.step_sides import Outcome, case_of, sides_of, timed, work
from tools.peers.step_table import Cell, cells_of, compare, markdown

# Writes the row of the case that its filter names, or skips it.
_PROGRAM = r"""#!{python}
import json, re, sys
flags = dict(flag.split("=", 1) for flag in sys.argv[1:])
name = re.sub(r"[\\^$()]", "", flags["--benchmark_filter"])
row = {{"name": name, "real_time": 200.0 if "library" in name else 400.0,
       "peak_bytes": 2.0**20, "page_faults": 3.0, "warmup_calls": 4, "samples": 7}}
rows = [] if {lacks!r} in name else [row]
skipped = [{{"reason": "no such kernel"}}]
with open(flags["--benchmark_out"], "w") as out:
    json.dump({{"benchmarks": rows, "skipped": skipped}}, out)
"""


def trainbench(folder: Path, lacks: str = "fused") -> Path:
    """Writes a program that skips cases with `lacks` in their name."""
    path = folder / "trainbench"
    write_script(path, _PROGRAM.format(python=sys.executable, lacks=lacks))
    return path


def replace_worker(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Makes PyTorch's processes run `script`, which has the side and the counts."""

    def command(*_: object, worker: str = "", **given: object) -> list[str]:
        head = f"import json, os, sys, time\nside, given = {worker!r}, {given}\n"
        return [sys.executable, "-c", head + script]

    monkeypatch.setattr(step_table, "worker_command", command)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return trainbench(tmp_path)


def parsed(binary: Path, *flags: str) -> Namespace:
    arguments = step_table.parse([f"--binary={binary}", *flags])
    arguments.model, arguments.precision = "tiny", "fp32"
    return arguments


def test_a_forward_pass_that_keeps_nothing_has_no_package_of_its_own() -> None:
    ours = ("textbook", "library", "fused")
    assert sides_of("forward") == (*ours, "eager", "compile")
    assert sides_of("train_step") == (*ours, "aoti", "eager", "compile")


def test_each_side_of_ours_is_a_case(program: Path) -> None:
    arguments = parsed(program, "--mode=inference")
    step = "tiny/fp32/inference/batch:4/seq:128"
    for side, experiment in (
        ("textbook", "model_size"),
        ("fused", "implementations/fused"),
        ("aoti", "compiled/aoti"),
    ):
        case = case_of(side, arguments)
        assert case.name == f"{experiment}/{step}"
        assert {"--models=tiny", "--mode=inference"} <= {*case.flags}


def test_a_ratio_is_that_of_one_round() -> None:
    # The machine slows down in each round, so no ratio of medians would be 0.5.
    def side(factor: float) -> list[Outcome]:
        return [Outcome(factor * 10**i, 8 * factor, 2) for i in range(6)]

    cells = cells_of({"fused": side(1), "eager": side(2), "compile": side(4)})
    fused = cells["fused"]
    assert (fused.v_eager, fused.v_compile) == (0.5, 0.25)
    assert fused.interval == pytest.approx((0.5, 0.5))
    assert (fused.peak_bytes, fused.page_faults) == (8, 2)
    few = {"eager": side(2)[:5], "compile": side(4)[:5]}
    assert cells_of(few)["eager"].interval is None


def test_a_gpus_call_is_timed_by_events(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Mock()
    gpu.Event.return_value.elapsed_time.return_value = 2.5
    monkeypatch.setattr(torch.cuda, "Event", gpu.Event)
    assert timed(gpu.step, 1, "cuda") == [2500]
    steps = [name.removeprefix("Event().") for name, _, _ in gpu.mock_calls[2:]]
    assert steps == ["record", "step", "record", "synchronize", "elapsed_time"]


def test_ours_decides_the_counts_and_pytorch_keeps_its_pages(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_worker(
        monkeypatch,
        "assert (given['warmups'], given['samples']) == (5, 7)\n"
        "assert os.environ['OMP_NUM_THREADS'] == '3'\n"
        "assert os.environ['MALLOC_MMAP_MAX_'] == '0'\n"
        "assert os.environ['TORCHINDUCTOR_CACHE_DIR'].endswith('/build/inductor')\n"
        "us = 800 if side == 'eager' else 100\n"
        "print('noise')\n"
        "print(json.dumps({'us': us, 'peak_bytes': 2**21, 'page_faults': 0}))",
    )
    result = compare(parsed(program, "--threads=3", "--rounds=2"), [])
    assert result["missing"] == {"fused": "no such kernel"}
    cells = result["cells"]
    assert set(cells) == {"textbook", "library", "aoti", "eager", "compile"}
    assert cells["library"] == Cell(200, 0.25, None, 2, 2**20, 3)
    table = markdown([result]).splitlines()
    step = "tiny/fp32/forward_backward/batch:4/seq:128"
    row = f"| {step} | library | 0.20 | 0.250 | 2.000 | 1.0 | 0.500 | 3 |"
    assert row in table
    assert table[-1] == f"{step}, fused: no such kernel"
    ratios = "time / eager | time / compile | MiB | MiB / eager"
    assert table[0] == f"| step | side | ms | {ratios} | faults |"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("sys.exit('out of luck')", "exit status 1\nout of luck"),
        ("time.sleep(600)", "no end within 10 s"),
    ],
)
def test_a_worker_that_dies_or_hangs(
    script: str, said: str, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_worker(monkeypatch, script)
    with pytest.raises(SystemExit, match=said):
        compare(parsed(program, "--timeout=10"), [])


def test_its_processes_end_with_it(tmp_path: Path) -> None:
    program, pid = tmp_path / "trainbench", tmp_path / "pid"
    write_script(program, f"#!/bin/sh\necho $$ >{pid}\nsleep 600\n")
    command = [sys.executable, "-m", "tools.peers.step_table", f"--binary={program}"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as tool:
        assert wait_until(lambda: pid.exists() and pid.read_text() != "")
        tool.send_signal(signal.SIGHUP)
    assert not is_running(pid.read_text().strip())


def test_a_step_that_was_skipped_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="/batch:4/seq:128: no such kernel"):
        compare(parsed(trainbench(tmp_path, lacks="model_size")), [])


@pytest.mark.parametrize("mode", ["inference", "forward_backward", "train_step"])
def test_the_peak_of_pytorch_is_what_a_step_holds_beside_what_it_keeps(
    mode: str, program: Path
) -> None:
    flags = ["--worker=eager", f"--mode={mode}", "--seq=8", "--batch=1", "--threads=1"]
    arguments = parsed(program, *flags, "--warmups=1", "--samples=2")
    outcome = work(arguments)
    assert outcome.us > 0
    weights = 4 * (2 * 10000 * 128 + 4 * (4 * 128**2 + 3 * 128 * 512))
    # Weights; with gradients twice, and with AdamW's two moments four times as much.
    copies = {"inference": 1, "forward_backward": 2, "train_step": 4}[mode]
    assert copies * weights < outcome.peak_bytes < 1.2 * copies * weights


@pytest.mark.parametrize(("factor", "is_right"), [(1, True), (1.1, False)])
def test_a_compiled_step_has_eagers_result(
    factor: float, is_right: bool, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compile_(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *inputs: factor * function(*inputs)

    monkeypatch.setattr(torch, "compile", compile_)
    flags = ["--worker=compile", "--seq=8", "--batch=1", "--threads=1"]
    arguments = parsed(program, *flags, "--warmups=1", "--samples=1")
    if is_right:
        work(arguments)
        return
    with pytest.raises(SystemExit, match=r"wrong by 0\.1, relative to eager's"):
        work(arguments)


WRONG = """
    --models=huge; --models=tiny,; --precisions=bf16; --batch=0; --rounds=0;
    --threads=-1; --samples=0; --timeout=0; --binary=/nowhere; --nonsense"""


def test_wrong_usage(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def parse(flags: list[str]) -> Namespace:
        return parsed(program, *flags)

    check_golden("errors/step_table.txt", refusals(parse, WRONG, capsys))
