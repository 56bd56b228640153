# SPDX-License-Identifier: MIT
"""Format, licence, guards and shell syntax of every source file."""

import os
import re
import shutil
import subprocess

import pytest

import checks

# Every major version formats some lines in a way of its own.
CLANG_FORMAT_MAJOR = "14"


def scripts() -> list[str]:
    """Everything in the rooms and .ci/ that says which interpreter runs it."""
    found = []
    for room in (*checks.ROOMS, ".ci"):
        for path in sorted((checks.ROOT / room).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                with path.open("rb") as file:
                    if file.read(2) == b"#!":
                        found.append(str(path.relative_to(checks.ROOT)))
    return found


def test_every_file_names_its_licence() -> None:
    sources = [*checks.files(*checks.CPP, ".py", ".sh"), *scripts()]
    # A library of shell functions names its dialect first.
    first = re.compile(r"\A# shellcheck shell=bash\n")
    texts = {path: first.sub("", checks.read(path)) for path in sources}
    assert [
        e for p, text in texts.items() for e in checks.license_errors(p, text)
    ] == []


def test_every_header_has_its_guard() -> None:
    headers = checks.files(".h", ".cuh")
    assert len(headers) > 30
    assert [e for p in headers for e in checks.guard_errors(p, checks.read(p))] == []


def test_cpp_is_formatted() -> None:
    program = shutil.which("clang-format")
    if program is None:
        pytest.skip("clang-format is not installed")
    version = subprocess.check_output([program, "--version"], text=True)
    found = re.search(r"version (\d+)", version)
    if found is None or found[1] != CLANG_FORMAT_MAJOR:
        pytest.skip(f"needs clang-format {CLANG_FORMAT_MAJOR}, found: {version}")
    sources = checks.files(*checks.CPP)
    done = subprocess.run(
        [program, "--dry-run", "-Werror", "--style=file", *sources],
        cwd=checks.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_scripts_can_be_run() -> None:
    found = scripts()
    assert "tools/bench" in found
    assert [p for p in found if not os.access(checks.ROOT / p, os.X_OK)] == []


def test_shell_scripts_are_valid() -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    shell = [
        path
        for path in [*scripts(), *checks.files(".sh")]
        if path.endswith(".sh") or "sh" in checks.read(path).splitlines()[0]
    ]
    for path in shell:
        done = subprocess.run(
            [bash, "-n", path],
            cwd=checks.ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
