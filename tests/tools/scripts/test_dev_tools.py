# SPDX-License-Identifier: MIT
"""tools/test, tools/format and tools/lint, mostly with stubs of their commands."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from processes import run
from stub_checkout import RECORDER, ROOT, TOOLS, Checkout, commit, git, write_script


@pytest.mark.parametrize(
    ("flags", "called"),
    [
        ([], "dev"),
        (["-V", "-LE", "e2e"], "dev -V -LE e2e"),
        (["--all"], "all"),
        (["-R", "sampler", "-V"], "all -R sampler -V"),
        (["--tests-regex=ring"], "all --tests-regex=ring"),
        (["-Rring"], "all -Rring"),
        (["--asan", "-R", "sampler"], "asan -R sampler"),
        (["--asan", "--all"], "asan"),
        (["--all", "--tsan"], "tsan"),
    ],
)
def test_which_tests_tools_test_runs(
    checkout: Checkout, flags: list[str], called: str
) -> None:
    checkout.run("test", *flags, status=8, STUB_FAILS="ctest")
    (line,) = checkout.log()
    beside = re.search(r" --parallel (\d+)", line)
    assert beside and int(beside[1]) >= 2
    assert line.replace(beside[0], "") == f"ctest --preset {called}"


def rooms(checkout: Checkout) -> None:
    for room in ("model", "fixtures", "benchmarks", "reports", "tests", ".ci"):
        (checkout.root / room).mkdir()


def test_format_changes_only_without_check(checkout: Checkout) -> None:
    if not (ROOT / ".venv").exists():
        pytest.skip("no .venv, which tools/setup makes")
    rooms(checkout)
    (checkout.root / ".venv").symlink_to(ROOT / ".venv")
    shutil.copy(ROOT / ".clang-format", checkout.root)
    cpp, python = checkout.root / "model/a.h", checkout.root / "reports/a.py"
    cpp.write_text("int  a;\n")
    python.write_text("a  = 1\n")
    checkout.run("format", "--check", status=1)
    assert (cpp.read_text(), python.read_text()) == ("int  a;\n", "a  = 1\n")
    checkout.run("format")
    assert (cpp.read_text(), python.read_text()) == ("int a;\n", "a = 1\n")
    checkout.run("format", "--check")


CHECKS = ("clang-format", "ruff", "mypy", "shellcheck", "budget")


@pytest.fixture
def lintable(checkout: Checkout) -> Checkout:
    rooms(checkout)
    for name in CHECKS:
        folder = "tools" if name == "budget" else ".venv/bin"
        write_script(checkout.root / folder / name, RECORDER)
    for name in ("a.cc", "a.h", "b.cc", "c.cc", "lonely.h"):
        (checkout.root / "model" / name).write_text("")
    return checkout


@pytest.mark.parametrize("name", CHECKS)
def test_lint_runs_every_check_and_fails_with_one(
    lintable: Checkout, name: str
) -> None:
    done = lintable.run("lint", status=1, STUB_FAILS=name)
    called = {line.split()[0] for line in lintable.log()}
    assert called == set(CHECKS)
    assert "clang-tidy: skipped, no revision to compare with" in done.stderr


@pytest.mark.parametrize("branch", ["main", "topic"])
def test_clang_tidy_reads_the_changed_sources(lintable: Checkout, branch: str) -> None:
    commit(lintable)
    git(lintable.root, "checkout", "--quiet", "-B", branch)
    for name in ("a.h", "lonely.h"):
        (lintable.root / "model" / name).write_text("int a;\n")
    commit(lintable)
    (lintable.root / "model/new.cc").write_text("")
    done = lintable.run("lint", status=1, STUB_FAILS="clang-tidy")
    read = [line.split()[-1] for line in lintable.log() if "clang-tidy" in line]
    assert sorted(read) == ["model/a.cc", "model/new.cc"]
    commands = (lintable.root / "build/lint/compile_commands.json").read_text()
    assert "pch" not in commands
    assert "tools/lint: failed: clang-tidy" in done.stderr


def test_bytecode_lies_in_build_even_if_the_user_wants_none(tmp_path: Path) -> None:
    interpreter = tmp_path / ".venv" / "bin" / "python"
    interpreter.parent.mkdir(parents=True)
    interpreter.symlink_to(sys.executable)
    (tmp_path / "CMakePresets.json").touch()  # makes it a checkout
    (tmp_path / "shown.py").write_text(
        "import sys; print(sys.dont_write_bytecode, sys.pycache_prefix)"
    )
    lib = shutil.copytree(TOOLS / "lib", tmp_path / "tools" / "lib")
    script = ("bash", "-c", '. "$1"; "${python_module[@]}" shown', "-")
    unwritten = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = run(*script, lib / "common.sh", env=unwritten)
    assert done.stdout == f"False {tmp_path}/build/pycache\n"
