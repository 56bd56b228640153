# SPDX-License-Identifier: MIT
"""The peers: their calls of our program, their rounds, and PyTorch's side."""

import json
import subprocess
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from stand_ins import replace_worker, trainbench

from built import built
from golden import check_golden, refusals
from processes import is_running, wait_until
from tools.peers import gloo_peer, interleaved, step_table
from tools.peers.interleaved import interval_of, run_rounds, worker_command


def parsed(binary: Path, *flags: str) -> Namespace:
    return gloo_peer.parse([f"--binary={binary}", *flags])


def compared(binary: Path, *flags: str) -> dict[str, Any]:
    return gloo_peer.compare(parsed(binary, *flags), flags)


def test_the_defaults_name_a_case_of_the_program() -> None:
    program = built("TRAINBENCH_BINARY")
    case = gloo_peer.case_of(parsed(program))
    command = [str(program), "--benchmark_list_tests", *case.flags]
    assert case.name in subprocess.check_output(command, text=True).splitlines()


def test_both_programs_do_the_same_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, program = tmp_path / "out.json", built("TRAINBENCH_BINARY")
    counts = ("--batch=1", "--seq=8", "--rounds=1", "--samples=3", f"--json={out}")
    chosen = ("--precisions=fp32", "--sides=eager")
    step_table.main([f"--binary={program}", *chosen, *counts])
    (step,) = json.loads(out.read_text())["steps"]
    (ours,), (eager,) = step["rounds"]["textbook"], step["rounds"]["eager"]
    found = step["cells"]["textbook"]
    assert found["v_eager"] == ours["us"] / eager["us"]
    assert (found["interval"], found["v_compile"]) == (None, None)
    row = "| tiny/fp32/forward_backward/batch:1/seq:8 | textbook |"
    assert row in capsys.readouterr().out


def test_pytorch_sums_over_two_ranks() -> None:
    flags = ["--worker", "--bytes=4096", "--timeout=600", "--threads=1"]
    command = worker_command("gloo_peer", flags, warmups=1, samples=3)
    samples = json.loads(subprocess.check_output(command, cwd=interleaved.ROOT))
    assert len(samples) == 3
    assert min(samples) > 0


def test_all_sides_run_once_per_round_in_another_order() -> None:
    calls: list[str] = []

    def run(side: str) -> float:
        calls.append(side)
        return ord(side)

    found = run_rounds("abc", 40, run, float)
    orders = ["".join(calls[i : i + 3]) for i in range(0, 120, 3)]
    assert all(sorted(order) == ["a", "b", "c"] for order in orders)
    assert len(set(orders)) > 1  # fails with probability 6^-39
    assert found == {side: [ord(side)] * 40 for side in "abc"}
    assert interval_of([3] * 6) == pytest.approx((3, 3))
    assert interval_of([3] * 5) is None


def test_ours_decides_the_counts_and_both_sides_get_the_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_worker(
        monkeypatch,
        gloo_peer,
        "assert os.environ['OMP_NUM_THREADS'] == '3' and counts['warmups'] == 5\n"
        "assert os.environ['GLOO_SOCKET_IFNAME'] == 'lo'\n"
        "print([100, 200, 900] + [200] * (counts['samples'] - 3))",
    )
    result = compared(trainbench(tmp_path), "--threads=3", "--rounds=2")
    assert (result["torch_warmups"], result["torch_samples"]) == (5, 7)
    assert result["rounds"] == [{"ours_us": 400, "torch_us": 200, "ratio": 2}] * 2
    calls = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert len(calls) == 3  # the first one is not timed
    for flags, threads in calls:
        assert threads == "3"
        assert flags["--threads"] == "6"  # for two ranks
        assert flags["--benchmark_filter"].endswith("/ranks:2/bytes:100000000)$")


def test_the_last_words_of_a_worker_that_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_worker(monkeypatch, gloo_peer, "sys.exit('out of luck')")
    reason = "bytes:100000000, torch: exit status 1\nout of luck"
    with pytest.raises(SystemExit, match=reason):
        compared(trainbench(tmp_path))


def test_a_worker_that_hangs_is_ended_with_its_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    note = f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')"
    replace_worker(monkeypatch, gloo_peer, f"os.fork()\n{note}\ntime.sleep(600)")
    with pytest.raises(SystemExit, match="no end within 10 s"):
        compared(trainbench(tmp_path), "--timeout=10")
    left = pids.read_text().split()
    assert len(left) == 2
    assert wait_until(lambda: not any(map(is_running, left)))


def test_a_case_that_was_skipped_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="/ranks:2/bytes:100000000: no such kernel"):
        compared(trainbench(tmp_path, lacks="all_reduce"))


WRONG = """
    --ranks=0; --ranks=x; --bytes=0; --bytes=6; --rounds=0; --threads=-1; --samples=0;
    --timeout=0; --binary=/nowhere; --nonsense"""


def test_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def parse(flags: list[str]) -> Namespace:
        return parsed(trainbench(tmp_path), *flags)

    check_golden("errors/gloo_peer.txt", refusals(parse, WRONG, capsys))
