# SPDX-License-Identifier: MIT
"""License, guards and permissions; tools/lint checks format and shell syntax."""

import os
import re
from collections import Counter

import checks


def scripts() -> list[str]:
    """Returns all files in the rooms and .ci/ with an interpreter line."""
    found = [*checks.files(""), ".ci/run"]
    return [p for p in found if (checks.ROOT / p).read_bytes().startswith(b"#!")]


def test_every_file_names_its_licence() -> None:
    sources = [*checks.files(*checks.CPP, ".py", ".sh"), *scripts()]
    assert checks.violations(checks.license_errors, sources) == []


def test_every_header_has_its_guard() -> None:
    headers = checks.files(".h", ".cuh")
    assert len(headers) > 30
    assert checks.violations(checks.guard_errors, headers) == []


def test_a_type_is_defined_in_one_header() -> None:
    """The linker would silently use either destructor of two definitions."""
    definition = re.compile(r"^(?:class|struct) (\w+)[^;{]*\{", re.MULTILINE)
    namespace = re.compile(r"^namespace (\S+) \{", re.MULTILINE)
    found = Counter[tuple[str, str]]()
    for text in map(checks.read, checks.files(".h")):
        if inside := namespace.search(text):
            names = set(definition.findall(text))
            found.update((inside[1], name) for name in names)
    assert len(found) > 300
    assert [name for name, count in found.items() if count > 1] == []


def test_sources_include_their_own_header_first() -> None:
    own = [
        p for p in checks.files(".cc") if (checks.ROOT / p).with_suffix(".h").exists()
    ]
    assert len(own) > 30
    assert checks.violations(checks.first_include_errors, own) == []


def test_scripts_can_be_run() -> None:
    found = scripts()
    assert "tools/bench" in found
    assert [p for p in found if not os.access(checks.ROOT / p, os.X_OK)] == []
