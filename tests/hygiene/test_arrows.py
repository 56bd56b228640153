# SPDX-License-Identifier: MIT
"""The rooms know each other in one direction only."""

import checks


def test_includes_point_one_way() -> None:
    sources = checks.files(*checks.CPP)
    assert len(sources) > 50
    assert [e for p in sources for e in checks.arrow_errors(p, checks.read(p))] == []


def test_no_kernel_sees_a_header_of_torch() -> None:
    kernels = checks.files(".cu")
    assert [e for p in kernels for e in checks.kernel_errors(p, checks.read)] == []


def test_experiments_leave_measuring_to_the_harness() -> None:
    experiments = [p for p in checks.files(*checks.CPP) if p.startswith("benchmarks/")]
    assert experiments
    assert [
        e for p in experiments for e in checks.experiment_errors(p, checks.read(p))
    ] == []


def test_experiments_are_all_there_is_in_their_room() -> None:
    names = {path.name for path in (checks.ROOT / "benchmarks").iterdir()}
    others = {name for name in names if not name.endswith(".cc")}
    assert others == {"CMakeLists.txt", "README.md"}
