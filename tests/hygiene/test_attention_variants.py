# SPDX-License-Identifier: MIT
"""A variant of attention is one line and one file, as CONTRIBUTING.md shows."""

import re

import pytest

import checks

_LIST = "model/spec/attention_variants.inc"
_LINE = re.compile(r'ATTENTION\((\w+), "([a-z][a-z0-9_]*)", (.*)\)')
_FUNCTION = r"at::Tensor (?:trainbench::)?{}Attention\(const at::Tensor& q,"


def _shown() -> dict[str, str]:
    """The lines that the diff in CONTRIBUTING.md adds to each file."""
    found = re.search(r"```diff\n(.*?)```", checks.read("CONTRIBUTING.md"), re.DOTALL)
    assert found
    added: dict[str, str] = {}
    path = ""
    for line in found[1].splitlines():
        if line.startswith("+++ b/"):
            path = line.removeprefix("+++ b/")
            added[path] = ""
        else:
            added[path] += line.removeprefix("+") + "\n"
    return added


def _lines() -> list[str]:
    listed = checks.read(_LIST).splitlines()
    return [line for line in listed if line.startswith("ATTENTION(")]


def _sources() -> str:
    paths = checks.files(".cc")
    return "".join(map(checks.read, (p for p in paths if "nn/attention/" in p)))


def _errors(line: str, sources: str) -> list[str]:
    """What the line of a variant names that does not exist."""
    match = _LINE.fullmatch(line)
    if match is None:
        return [f"no line of a variant: {line}"]
    name, _, fields = match.groups()
    errors = []
    if not re.search(_FUNCTION.format(name), sources):
        errors.append(f"no file defines {name}Attention")
    known = checks.read("model/spec/attention_variant.h")
    for field in re.findall(r"\.(\w+) = ", fields):
        if not re.search(rf"^  \S.* {field}\b", known, re.MULTILINE):
            errors.append(f"no field {field}")
    return errors


@pytest.mark.parametrize("line", _lines())
def test_each_line_names_what_exists(line: str) -> None:
    assert not _errors(line, _sources())


def test_what_contributing_shows_adds_a_variant() -> None:
    shown = _shown()
    path, text = next((p, t) for p, t in shown.items() if p != _LIST)
    line = shown[_LIST].strip()
    assert not _errors(line, text)
    assert len(shown) == 2
    match = _LINE.fullmatch(line)
    assert match and path == f"model/nn/attention/{match[2]}.cc"
    for name in checks.includes(text):
        checks.read(name)


def test_a_wrong_line_is_found() -> None:
    assert _errors("ATTENTION(Own)", "") == ["no line of a variant: ATTENTION(Own)"]
    line = 'ATTENTION(No, "no", .no_op = "no")'
    assert _errors(line, "") == ["no file defines NoAttention", "no field no_op"]
