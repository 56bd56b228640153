# SPDX-License-Identifier: MIT
"""The output and the exit status of tools/compare."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from golden import check_golden, refusals
from reports.compare.decision import RowNoise
from reports.compare.main import main
from reports.compare.noise import NoiseFile, save_noise
from results import CONTEXT, alternating, document, entry, failure, write

GOOD, BAD = 0, 1
BASE = document(
    entry("e/one", 100, peak_bytes=64), entry("e/two", 200), entry("e/three", 300)
)


def files(folder: Path, new: dict[str, Any]) -> list[str]:
    folder.mkdir(exist_ok=True)
    paths = (write(folder / "base.json", BASE), write(folder / "new.json", new))
    return [str(path) for path in paths]


def paired(folder: Path, ratio: float) -> list[str]:
    """Returns --base and --new for 8 alternating pairs; all rows differ by `ratio`."""
    sides: tuple[list[str], list[str]] = ([], [])
    results = alternating(16, ratio, one=100, two=200, three=300)
    for i, (is_new, result) in enumerate(results):
        sides[is_new].append(str(write(folder / f"{i}.json", result)))
    return ["--base", *sides[0], "--new", *sides[1]]


def test_several_files_per_side_as_json(tmp_path: Path, capsys: Any) -> None:
    assert main([*paired(tmp_path, 1.2), "--json"]) == BAD
    printed = json.loads(capsys.readouterr().out)
    assert printed["exit_code"] == BAD and printed["verdicts"]["REGRESSED"] == 3
    row = printed["rows"][0]
    assert (row["name"], row["verdict"], row["pairs"]) == ("e/one", "REGRESSED", 8)
    low, high = row["interval"]
    assert low < 1.2 < high and row["ratio"] == pytest.approx(1.2, 0.01)
    assert printed["base"]["processes"] == 8


def test_what_is_printed(tmp_path: Path, capsys: Any) -> None:
    reason = "a|b\n<c> @someone `x` [y](z)"
    rows = BASE["benchmarks"]
    failed = document(*rows[:2], errors=[failure("e/three", reason)])
    # A change that rounding would hide.
    large, larger = (entry("e/one", 100, bytes=2**30 + i) for i in (0, 1))
    exact = [
        str(write(tmp_path / name, document(one, *rows[1:])))
        for name, one in (("a", large), ("b", larger))
    ]
    models = (entry("e/one", 100, params=count) for count in (1, 2))
    other = [
        str(write(tmp_path / name, document(one, *rows[1:end])))
        for name, one, end in zip("cd", models, (3, 2), strict=True)
    ]
    slower = paired(tmp_path, 1.2)
    printed = {}
    for name, arguments, status in (
        ("one process a side", files(tmp_path, BASE), GOOD),
        ("with an A/A spread", [*files(tmp_path, BASE), noise_flag(tmp_path)], GOOD),
        ("slower in pairs", slower, BAD),
        ("slower in pairs, as Markdown", [*slower, "--markdown"], BAD),
        ("an exact metric", exact, BAD),
        ("an exact metric that is accepted", [*exact, "--accept=bytes,params"], GOOD),
        ("a failed row", [*files(tmp_path / "failed", failed), "--markdown"], BAD),
        ("other work, and a lost row", [*other, "--markdown"], BAD),
    ):
        assert main(arguments) == status
        printed[name] = capsys.readouterr().out
    check_golden("compare.txt", printed)
    base, new = files(tmp_path, BASE)
    assert main([base, "--filter=e/one", new]) == GOOD  # flags may be in between


def noise_flag(folder: Path, **context: str) -> str:
    path, calm = folder / "noise.json", RowNoise(0.01, 0.01, 20, 0.02)
    rows = {"e/one": calm, "e/two": replace(calm, spread=5)}
    save_noise(NoiseFile(CONTEXT | context, rows, "c0ffee"), path)
    return f"--noise={path}"


WRONG = """
    ; a.json; --base a.json; a b c ./b; a b --threshold=0; a b --threshold=x;
    a b --confidence=40; a b --filter=(; base.json base.json --filter=nothing;
    base.json base.json --accept=peek_bytes;
    base.json base.json --noise=noise.json; base.json base.json --noise=base.json;
    base.json zero.json; base.json empty.json; null.json null.json;
    predicted.json predicted.json; .; . --threshold=3; . --base a --new b"""


def test_what_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong usage, files that are no result, and results that are not comparable."""
    predicted = document(entry("e/one", 1), context={"device_kind": "predicted_cuda"})
    for name, content in {
        "base": BASE,
        "zero": document(entry("e/one", 0)),
        "empty": document(),
        "null": document(entry("e/one", 0), context={"device_kind": "null_cuda"}),
        "predicted": predicted,
    }.items():
        write(tmp_path / f"{name}.json", content)
    noise_flag(tmp_path, device="another")
    monkeypatch.chdir(tmp_path)
    said = refusals(main, WRONG, capsys, "tools/compare")
    check_golden("errors/compare.txt", said)
