# SPDX-License-Identifier: MIT
"""The rounds of the peers and the ranks of the Gloo one, mostly with stand-ins."""

import json
import os
import sys
from argparse import Namespace
from pathlib import Path

import eager_peer
import gloo_peer
import pytest
from interleaved import Round, median_ratio, run_rounds

# Writes a row to --benchmark_out and says how it was called.
PROGRAM = """#!{python}
import json, os, sys
flags = dict(f.split("=", 1) for f in sys.argv[1:])
with open({log!r}, "a") as log:
    log.write(json.dumps(["ours", flags, os.environ["OMP_NUM_THREADS"]]) + "\\n")
row = {row!r}
with open(flags["--benchmark_out"], "w") as out:
    json.dump({{"benchmarks": [row] if row else []}}, out)
"""
ROW = {"time_unit": "us", "real_time": 9.0, "p50_us": 300.0, "samples": 7.0}


def program(folder: Path, row: dict[str, object] | None) -> Path:
    path = folder / "trainbench"
    log = str(folder / "log")
    path.write_text(PROGRAM.format(python=sys.executable, log=log, row=row))
    path.chmod(0o755)
    return path


def stand_in(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Each rank runs `script` with its number and the counts in place of torch."""

    def command(_: Namespace, rank: int, store: Path, **counts: int) -> list[str]:
        values = json.dumps(counts | {"rank": rank, "store": str(store)})
        return [sys.executable, "-c", f"import sys, time, os\na = {values}\n{script}"]

    monkeypatch.setattr(gloo_peer, "worker_command", command)


def parsed(
    folder: Path, *flags: str, row: dict[str, object] | None = None
) -> Namespace:
    binary = program(folder, ROW if row is None else row)
    return gloo_peer.parse_arguments([f"--binary={binary}", *flags])


def test_rounds_alternate_and_the_median_is_that_of_the_ratios(
    capsys: pytest.CaptureFixture[str],
) -> None:
    calls: list[str] = []
    ours = iter([10.0, 30.0, 20.0])

    def call(name: str, value: float) -> float:
        calls.append(name)
        return value

    rounds = run_rounds("x", 3, lambda: call("A", next(ours)), lambda: call("B", 10))
    assert "".join(calls) == "ABBAAB"
    assert rounds == [Round(10, 10), Round(30, 10), Round(20, 10)]
    assert median_ratio(rounds) == 2
    assert "median ours/x: 2.000" in capsys.readouterr().out


def test_a_call_lasts_as_long_as_its_slowest_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, "print([[1, 5, 100], [40, 2, 3]][a['rank']])")
    arguments = parsed(tmp_path)
    # The maxima are 40, 5 and 100.
    assert gloo_peer.run_gloo(arguments, threads=1, warmups=1, samples=3) == 40


def test_ours_decides_the_counts_and_both_sides_get_the_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(
        monkeypatch,
        "assert os.environ['OMP_NUM_THREADS'] == '3' == str(a['threads'])\n"
        "assert os.environ['GLOO_SOCKET_IFNAME'] == 'lo' and a['warmups'] == 3\n"
        "print([200] * a['samples'])",
    )
    result = gloo_peer.compare(parsed(tmp_path, "--threads=3", "--rounds=2"))
    assert result["median_ratio"] == 1.5
    assert (result["torch_warmups"], result["torch_samples"]) == (3, 7)
    assert result["rounds"][0] == {"ours_us": 300, "torch_us": 200, "ratio": 1.5}
    calls = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert len(calls) == 2
    _, flags, threads = calls[0]
    assert flags["--suite"] == "paper" and threads == "3"
    # Two ranks share them.
    assert flags["--threads"] == "6"
    name = flags["--benchmark_filter"]
    assert name.startswith("^all_reduce/gloo/ranks:2/bytes:100000000")
    assert "median ours/torch: 1.500" in capsys.readouterr().out


def test_a_rank_that_dies_is_named_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, "time.sleep(60 * (1 - a['rank']))\nsys.exit('out of luck')")
    with pytest.raises(SystemExit, match="rank 1 of 2 died with status 1\nout of luck"):
        gloo_peer.run_gloo(parsed(tmp_path), threads=1)


def test_ranks_that_hang_are_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    stand_in(
        monkeypatch,
        f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')\n"
        "time.sleep(60 * a['rank'])",
    )
    with pytest.raises(SystemExit, match="no end within 2 s of rank 1 of 2"):
        gloo_peer.run_gloo(parsed(tmp_path, "--timeout=2"), threads=1)
    for pid in pids.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({}, "expected one row, got 0"),
        ({"time_unit": "us"}, "the row has no p50_us"),
        (ROW | {"threads_per_rank": 5.0}, "used 5 threads, not 1: give --threads=5"),
    ],
)
def test_a_row_that_cannot_be_compared(
    tmp_path: Path, row: dict[str, object], message: str
) -> None:
    arguments = parsed(tmp_path, "--threads=1", row=row)
    with pytest.raises(SystemExit, match=message):
        gloo_peer.compare(arguments)


@pytest.mark.parametrize(
    "flag",
    [
        *("--ranks=0", "--ranks=x", "--bytes=0", "--bytes=6", "--rounds=0"),
        *("--threads=-1", "--samples=-1", "--timeout=0", "--timeout=nan"),
        *("--binary=/nowhere", "--nonsense"),
    ],
)
def test_wrong_usage_names_the_flag(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        parsed(tmp_path, flag)
    assert raised.value.code == 2
    assert flag.split("=")[0] in capsys.readouterr().err.splitlines()[-1]


def test_torch_itself_sums_over_two_ranks(tmp_path: Path) -> None:
    arguments = parsed(tmp_path, "--bytes=4096", "--timeout=100")
    assert gloo_peer.run_gloo(arguments, threads=1, warmups=1, samples=3) > 0


def test_the_eager_peer_runs_its_rounds_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binary = program(tmp_path, ROW | {"warmup_calls": 4.0})
    monkeypatch.setattr(sys, "argv", ["eager_peer.py", f"--binary={binary}"])
    seen = []

    def eager(_: Namespace, warmups: int, samples: int) -> float:
        seen.append((warmups, samples))
        return 3.0

    monkeypatch.setattr(eager_peer, "run_eager", eager)
    result = eager_peer.compare(eager_peer.parse_arguments())
    assert seen == [(5, 7)] * 4
    assert result["median_ratio"] == 3
    assert result["rounds"][0] == {"ours_us": 9, "eager_us": 3, "ratio": 3}
