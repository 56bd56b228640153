# SPDX-License-Identifier: MIT
"""The rooms know each other in one direction only."""

from collections import Counter

import checks


def test_includes_point_one_way() -> None:
    sources = checks.files(*checks.CPP)
    assert len(sources) > 50
    assert [e for p in sources for e in checks.arrow_errors(p, checks.read(p))] == []


def test_the_table_points_downward() -> None:
    floors = list(checks.ARROWS)
    for room, below in checks.ARROWS.items():
        assert set(below) <= set(floors[floors.index(room) + 1 :]), room


def test_every_room_is_in_the_table() -> None:
    rooms = {checks.room_of(p) for p in checks.files(*checks.CPP)} - {None}
    assert rooms == set(checks.ARROWS)


def test_no_folder_is_crowded() -> None:
    folders = Counter(
        path.parent
        for path in checks.tracked()
        if path.parts[0] in ("model", "fixtures", "reports", "tools", "tests")
        and path.suffix != ".svg"
    )
    assert [str(f) for f, count in folders.items() if count > 30] == []


def test_no_kernel_sees_a_header_of_torch() -> None:
    kernels = checks.files(".cu")
    assert [e for p in kernels for e in checks.kernel_errors(p, checks.read)] == []


def test_experiments_leave_measuring_to_the_harness() -> None:
    experiments = [p for p in checks.files(*checks.CPP) if p.startswith("benchmarks/")]
    assert experiments
    assert [
        e for p in experiments for e in checks.experiment_errors(p, checks.read(p))
    ] == []


def test_the_example_of_an_experiment_is_one() -> None:
    path = "tests/data/example_experiment.cc"
    text = checks.read(path)
    assert checks.experiment_errors("benchmarks/gelu.cc", text) == []
    assert checks.arrow_errors("benchmarks/gelu.cc", text) == []
    assert len(text.splitlines()) <= 60
    assert path in checks.read("CONTRIBUTING.md")


def test_experiments_are_all_there_is_in_their_room() -> None:
    names = {path.name for path in (checks.ROOT / "benchmarks").iterdir()}
    others = {name for name in names if not name.endswith(".cc")}
    assert others == {"CMakeLists.txt", "README.md"}
