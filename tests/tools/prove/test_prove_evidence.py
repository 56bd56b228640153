# SPDX-License-Identifier: MIT
"""tools/prove: the returned files, and the printed table."""

import gzip
import json
import os
import tarfile
from pathlib import Path

import pytest

from tools.prove import evidence, table
from tools.prove.stages import STAGES
from tools.prove.state import State
from tools.prove.steps import SUITE


def write(path: Path, content: bytes = b"{}") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    for name in (
        *("proof.json", "dmon.txt", "12-ncu/log.txt", "05-smoke/smoke.json"),
        *(f"08-suite/{SUITE}.json", f"08-suite/{SUITE}.samples.jsonl"),
        *("07-breakdown/traces/a.json", "07-breakdown/breakdown.json"),
        *("05-smoke/log.txt", "05-smoke/smoke.samples.jsonl", "aoti/a.pt2"),
        "05-smoke/smoke.json.tmp",
    ):
        write(folder / name)
    return folder


def members(path: Path) -> list[str]:
    with tarfile.open(path) as archive:
        return sorted(archive.getnames())


def test_what_comes_back_is_eight_flat_files(state: Path, tmp_path: Path) -> None:
    into = tmp_path / "into"
    evidence.keep(state, into)
    names = sorted(path.name for path in into.iterdir())
    assert names == sorted(evidence.FILES)
    assert len(names) == 8
    assert gzip.decompress((into / f"{SUITE}.samples.jsonl.gz").read_bytes()) == b"{}"
    assert members(into / "profile.tar.gz") == [
        "07-breakdown/breakdown.json",
        "07-breakdown/traces/a.json",
    ]
    assert members(into / "logs.tar.gz") == [
        "05-smoke/log.txt",
        "05-smoke/smoke.samples.jsonl",
    ]


def test_what_changes_while_it_is_kept_is_kept_again(
    state: Path, tmp_path: Path
) -> None:
    evidence.keep(state, tmp_path)
    source = state / "05-smoke/smoke.json"
    before_the_copy = source.stat().st_mtime_ns + 1
    source.write_bytes(b"[]")
    os.utime(source, ns=(before_the_copy, before_the_copy))
    evidence.keep(state, tmp_path)
    assert (tmp_path / "smoke.json").read_bytes() == b"[]"


def test_no_file_is_larger_than_what_may_come_back(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "MOST_BYTES", 1 << 14)
    write(state / "07-breakdown/traces/large.json", os.urandom(1 << 15))
    write(state / "05-smoke/smoke.json", os.urandom(1 << 15))
    evidence.keep(state, tmp_path)
    assert "smoke.json" not in [path.name for path in tmp_path.iterdir()]
    assert "07-breakdown/traces/a.json" in members(tmp_path / "profile.tar.gz")
    assert "07-breakdown/traces/large.json" not in members(tmp_path / "profile.tar.gz")


def test_a_log_keeps_its_beginning_and_its_end(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "_LOG_BYTES", 3)
    for log in (state / "05-smoke/log.txt", state / "12-ncu/log.txt"):
        write(log, b"abcdefghi")
        evidence.keep(state, tmp_path)
        assert log.read_bytes() == b"abcdefghi", "a step may append to it"
    with tarfile.open(tmp_path / "logs.tar.gz") as archive:
        archive.extractall(tmp_path / "logs", filter="data")
    for log in (tmp_path / "logs/05-smoke/log.txt", tmp_path / "ncu.txt"):
        assert log.read_bytes() == b"abc\n... 3 bytes ...\nghi"


def test_the_table_is_short_whatever_is_to_be_said(tmp_path: Path) -> None:
    state = State(tmp_path)
    state.calls = [{"seconds": 560.0}] * 3
    for stage in STAGES:
        state.parts[stage.key] = {
            "status": "timed out",
            "seconds": 1234.5,
            "look_at": ["some words of a reason " * 20, "x" * 500],
        }
    lines = table.render(STAGES, state, STAGES[:3]).splitlines()
    assert len(STAGES) < len(lines) <= 40
    assert max(map(len, lines)) <= 120
    assert len("\n".join(lines)) < 12000
    assert {line.split()[0] for line in lines} >= {stage.key for stage in STAGES}


def test_a_state_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "proof.json").write_text(json.dumps({"mine": 1}))
    with pytest.raises(ValueError, match="is no proof"):
        State(tmp_path)
