# SPDX-License-Identifier: MIT
"""Rooms depend on each other in one direction only."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import checks
from reports.experiments.specs import SPECS
from stub_checkout import example


def test_includes_point_one_way() -> None:
    sources = checks.files(*checks.CPP)
    assert len(sources) > 50
    assert checks.violations(checks.arrow_errors, sources) == []


@pytest.mark.parametrize(
    "chain",
    [
        "results compare",
        "results experiments answers advice pages compare history calibration",
    ],
)
def test_the_rooms_of_reports_import_one_way(chain: str) -> None:
    rooms = chain.split()
    for place, room in enumerate(rooms):
        sources = (checks.ROOT / "reports" / room).rglob("*.py")
        text = "\n".join(path.read_text("utf-8") for path in sources)
        found = set(re.findall(r"^ *from reports\.(\w+)", text, re.MULTILINE))
        assert found <= {*rooms[: place + 1], "command"}, room


def test_the_table_points_downward() -> None:
    floors = list(checks.ARROWS)
    for room, below in checks.ARROWS.items():
        assert set(below) <= set(floors[floors.index(room) + 1 :]), room


def test_every_room_is_in_the_table() -> None:
    rooms = {checks.room_of(p) for p in checks.files(*checks.CPP)} - {None}
    assert rooms == set(checks.ARROWS)


def test_no_folder_is_crowded() -> None:
    counted = (p for p in checks.files("") if not p.endswith(".svg"))
    folders = Counter(Path(p).parent for p in counted)
    assert [str(f) for f, count in folders.items() if count > 30] == []


def test_experiments_leave_measuring_to_the_harness() -> None:
    sources = [p for p in checks.files(*checks.CPP) if p.startswith("benchmarks/")]
    experiments = [path for path in sources if path.count("/") == 1]
    operations = [path for path in sources if path.count("/") > 1]
    assert experiments and operations
    assert checks.violations(checks.experiment_errors, experiments) == []
    assert checks.violations(checks.measuring_errors, operations) == []


def test_the_example_of_an_experiment_is_one() -> None:
    text = example()
    for check in (checks.license_errors, checks.experiment_errors, checks.arrow_errors):
        assert check("benchmarks/gelu.cc", text) == []
    assert len(text.splitlines()) <= 60


def test_the_example_of_an_experiment_is_formatted() -> None:
    formatter = checks.ROOT / ".venv" / "bin" / "clang-format"
    if not formatter.exists():
        pytest.skip(f"no {formatter}")
    formatted = subprocess.run(
        [formatter, "--style=file", "--assume-filename=benchmarks/gelu.cc"],
        input=example(),
        cwd=checks.ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert formatted == example()


def test_experiments_and_their_folders_are_all_there_is_in_their_room() -> None:
    found = list((checks.ROOT / "benchmarks").iterdir())
    experiments = {path.stem for path in found if path.suffix == ".cc"}
    assert {path.name for path in found if path.is_dir()} <= experiments
    others = {path.name for path in found if path.is_file() and path.suffix != ".cc"}
    assert others == {"CMakeLists.txt", "README.md"}


def test_every_spec_is_of_an_experiment() -> None:
    experiments = {path.stem for path in (checks.ROOT / "benchmarks").glob("*.cc")}
    assert set(SPECS) <= experiments
