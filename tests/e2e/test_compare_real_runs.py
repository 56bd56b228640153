# SPDX-License-Identifier: MIT
"""tools/compare on files that the program really wrote, whole and damaged."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from program import NANO, Json, Program, load
from reports.compare.__main__ import main

GOOD, BAD, NOT_COMPARABLE = 0, 1, 2


@dataclass(frozen=True)
class Finished:
    code: int
    out: str
    err: str


@pytest.fixture
def compare(capsys: pytest.CaptureFixture[str]) -> Callable[..., Finished]:
    def call(*arguments: Path | str) -> Finished:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Finished(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Runs the same cases twice with the same program."""
    path = os.environ.get("TRAINBENCH_BINARY")
    if not path:
        pytest.skip("TRAINBENCH_BINARY does not name a built program")
    folder = tmp_path_factory.mktemp("real")
    program = Program(Path(path).resolve(strict=True), folder)
    flags = (*NANO, "--benchmark_filter=^(model_size|softmax_vs_matmul)/")
    for name in ("base.json", "new.json"):
        assert program.run(*flags, f"--benchmark_out={name}").code == GOOD
    return folder / "base.json", folder / "new.json"


def test_two_runs_of_one_program(
    real: tuple[Path, Path], compare: Callable[..., Finished]
) -> None:
    done = compare(*real)
    assert done.code == GOOD, done.out + done.err
    rows = load(real[0])["benchmarks"]
    assert len(rows) > 5
    for row in rows:
        assert any(line.startswith(row["name"]) for line in done.out.splitlines())
    assert f"0 EQUIVALENT, {len(rows)} INCONCLUSIVE" in done.out
    document = json.loads(compare(*real, "--json").out)
    # The exact metrics of both runs are equal.
    assert [row["changes"] for row in document["rows"]] == [[]] * len(rows)


def edited(edit: Callable[[Json], object]) -> Callable[[str], str]:
    def apply(text: str) -> str:
        document = json.loads(text)
        edit(document)
        return json.dumps(document)

    return apply


def moves_first_row_to(part: str) -> Callable[[Json], object]:
    def edit(document: Json) -> None:
        name = document["benchmarks"].pop(0)["name"]
        document[part].append({"name": name, "reason": "as a test wants it"})

    return edit


DAMAGES: dict[str, tuple[Callable[[str], str], int, str]] = {
    "truncated": (lambda text: text[: len(text) // 2], NOT_COMPARABLE, "breaks off"),
    "empty": (lambda _: "", NOT_COMPARABLE, "is empty"),
    "NaN": (
        lambda text: text.replace('"real_time": ', '"real_time": NaN, "x": ', 1),
        NOT_COMPARABLE,
        "holds NaN",
    ),
    "other machine": (
        edited(lambda one: one["context"].update(cpu_model="another")),
        NOT_COMPARABLE,
        "differ in cpu_model",
    ),
    "missing rows": (
        edited(lambda one: one["benchmarks"].pop()),
        BAD,
        "base measured; new absent",
    ),
    "skip": (
        edited(moves_first_row_to("skipped")),
        BAD,
        "new skipped: as a test wants it",
    ),
    "error": (
        edited(moves_first_row_to("errors")),
        BAD,
        "new error: as a test wants it",
    ),
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_run(
    real: tuple[Path, Path], compare: Callable[..., Finished], tmp_path: Path, how: str
) -> None:
    damage, code, said = DAMAGES[how]
    new = tmp_path / "new.json"
    new.write_text(damage(real[1].read_text()))
    done = compare(real[0], new)
    assert done.code == code, done.out + done.err
    assert said in done.out + done.err
