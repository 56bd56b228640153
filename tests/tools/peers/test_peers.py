# SPDX-License-Identifier: MIT
"""The peers: their calls of our program, their turns, and PyTorch's side."""

import contextlib
import json
import os
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from refused import check_refused

from tools.peers import eager_peer, gloo_peer, interleaved
from tools.peers.interleaved import Peer, interval_of, run_rounds

PEERS = (eager_peer.PEER, gloo_peer.PEER)
# Writes a row to --benchmark_out and logs its arguments.
PROGRAM = """#!{python}
import json, os, sys
flags = dict(f.split("=", 1) for f in sys.argv[1:])
with open({log!r}, "a") as log:
    log.write(json.dumps([flags, os.environ["OMP_NUM_THREADS"]]) + "\\n")
with open(flags["--benchmark_out"], "w") as out:
    json.dump({{"benchmarks": {rows!r}}}, out)
"""
ROW = {"real_time": 300.0, "warmup_calls": 4.0, "samples": 7.0}


def stub(folder: Path, *rows: dict[str, float]) -> Path:
    path = folder / "trainbench"
    log = str(folder / "log")
    path.write_text(PROGRAM.format(python=sys.executable, log=log, rows=list(rows)))
    path.chmod(0o755)
    return path


def parsed(peer: Peer, binary: Path, *flags: str) -> Namespace:
    return interleaved.parse(peer, [f"--binary={binary}", *flags])


def compared(peer: Peer, binary: Path, *flags: str) -> dict[str, Any]:
    return interleaved.compare(peer, parsed(peer, binary, *flags), flags)


def replace_worker(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Makes PyTorch's processes run `script`, which has the counts as `a`."""

    def command(_: Peer, __: Sequence[str], **counts: int) -> list[str]:
        return [sys.executable, "-c", f"import sys, time, os\na = {counts}\n{script}"]

    monkeypatch.setattr(interleaved, "worker_command", command)


@pytest.fixture
def trainbench() -> Path:
    path = os.environ.get("TRAINBENCH_BINARY")
    if not path:
        pytest.skip("TRAINBENCH_BINARY does not name a built program")
    return Path(path).resolve(strict=True)


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_the_defaults_name_a_case_of_the_program(peer: Peer, trainbench: Path) -> None:
    case = peer.case_of(parsed(peer, trainbench))
    command = [str(trainbench), "--benchmark_list_tests", *case.flags]
    assert case.name in subprocess.check_output(command, text=True).splitlines()


def test_both_programs_do_the_same_case(
    trainbench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    flags = ["--model=tiny", "--seq=8", "--rounds=1", "--samples=3", f"--json={out}"]
    interleaved.main(eager_peer.PEER, [f"--binary={trainbench}", *flags])
    written = json.loads(out.read_text())
    assert written["case"] == "model_size/tiny/fp32/forward_backward/batch:1/seq:8"
    (one,) = written["rounds"]
    assert one["ratio"] == one["ours_us"] / one["eager_us"] == written["median_ratio"]
    assert "an interval takes 6 rounds" in capsys.readouterr().out


def test_pytorch_sums_over_two_ranks() -> None:
    flags = ["--bytes=4096", "--timeout=600", "--threads=1"]
    command = interleaved.worker_command(gloo_peer.PEER, flags, warmups=1, samples=3)
    samples = json.loads(subprocess.check_output(command, cwd=interleaved.ROOT))
    assert len(samples) == 3
    assert min(samples) > 0


def test_each_side_runs_once_per_round_and_either_may_be_first() -> None:
    calls: list[str] = []

    def call(name: str, time: float) -> float:
        calls.append(name)
        return time

    rounds = run_rounds("x", 64, lambda: call("A", 30), lambda: call("B", 10))
    pairs = {"".join(pair) for pair in zip(calls[::2], calls[1::2], strict=True)}
    assert pairs == {"AB", "BA"}  # fails with probability 2 / 2^64
    assert rounds == [(30, 10)] * 64
    assert interval_of([3] * 6) == pytest.approx((3, 3))
    assert interval_of([3] * 5) is None


def test_ours_decides_the_counts_and_both_sides_get_the_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_worker(
        monkeypatch,
        "assert os.environ['OMP_NUM_THREADS'] == '3' and a['warmups'] == 5\n"
        "assert os.environ['GLOO_SOCKET_IFNAME'] == 'lo'\n"
        "print([100, 200, 900] + [200] * (a['samples'] - 3))",
    )
    result = compared(gloo_peer.PEER, stub(tmp_path, ROW), "--threads=3", "--rounds=2")
    assert (result["torch_warmups"], result["torch_samples"]) == (5, 7)
    assert result["rounds"] == [{"ours_us": 300, "torch_us": 200, "ratio": 1.5}] * 2
    calls = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert len(calls) == 3  # the first one is not timed
    for flags, threads in calls:
        assert threads == "3"
        assert flags["--threads"] == "6"  # for two ranks
        assert flags["--benchmark_filter"].endswith("/ranks:2/bytes:100000000$")


def test_the_last_words_of_a_worker_that_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_worker(monkeypatch, "sys.exit('out of luck')")
    reason = "bytes:100000000, torch: exit status 1\nout of luck"
    with pytest.raises(SystemExit, match=reason):
        compared(gloo_peer.PEER, stub(tmp_path, ROW))


def is_running(pid: str) -> bool:
    with contextlib.suppress(OSError):
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    return False


def test_a_worker_that_hangs_is_ended_with_its_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    note = f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')"
    replace_worker(monkeypatch, f"os.fork()\n{note}\ntime.sleep(600)")
    with pytest.raises(SystemExit, match="no end within 10 s"):
        compared(gloo_peer.PEER, stub(tmp_path, ROW), "--timeout=10")
    left = pids.read_text().split()
    assert len(left) == 2
    deadline = time.monotonic() + 300
    while any(map(is_running, left)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(is_running, left))


def test_a_case_that_was_skipped_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="our program gave 0 rows instead of one"):
        compared(eager_peer.PEER, stub(tmp_path))


@pytest.mark.parametrize(
    "flag",
    [
        *("--ranks=0", "--ranks=x", "--bytes=0", "--bytes=6", "--rounds=0"),
        *("--threads=-1", "--samples=0", "--timeout=0"),
        *("--binary=/nowhere", "--nonsense"),
    ],
)
def test_wrong_usage_names_the_flag(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_refused(lambda: parsed(gloo_peer.PEER, stub(tmp_path), flag), flag, capsys)
