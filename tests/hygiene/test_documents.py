# SPDX-License-Identifier: MIT
"""The documents are short, name only existing paths, and show committed numbers."""

import re
from pathlib import PurePosixPath

import pytest

import checks
from reports.answers.excerpt import machine_of, with_excerpt
from reports.results.result_file import load

# The pages of a run are generated.
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    *(p for p in checks.files(".md") if not p.startswith("reports/reference/")),
    "reports/reference/README.md",
]
MAX_LINES = {"README.md": 130, "CONTRIBUTING.md": 120}
MAX_COLUMNS = 100


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_path_exists(document: str) -> None:
    paths = checks.paths_in(document)
    assert [path for path in paths if not (checks.ROOT / path).exists()] == []


@pytest.mark.parametrize("document", MAX_LINES)
def test_it_is_short(document: str) -> None:
    lines = checks.read(document).splitlines()
    assert len(lines) <= MAX_LINES[document]
    assert [line for line in lines if len(line) > MAX_COLUMNS] == []


def test_every_room_has_a_readme() -> None:
    sources = map(PurePosixPath, checks.files(".cc", ".cu", ".h", ".py", ".cmake"))
    folders = {path.parent for path in sources if path.parts[0] != "tests"}
    # Deeper folders are described by the room that contains them.
    rooms = {
        PurePosixPath(*folder.parts[: 1 if folder.parts[0] == "benchmarks" else 2])
        for folder in folders
    }
    readmes = [checks.ROOT / room / "README.md" for room in sorted(rooms)]
    assert [path for path in readmes if not path.exists()] == []


def test_each_row_of_the_validity_checklist_names_tests_that_exist() -> None:
    rows = checks.checklist_tests(checks.read("fixtures/README.md"))
    assert sorted(rows) == list(range(1, 21))
    assert [row for row, named in rows.items() if not named] == []
    paths = (p for p in checks.files(".cc", ".py") if p.startswith("tests/"))
    known = {name for p in paths for name in checks.tests_in(p, checks.read(p))}
    assert [
        name for named in rows.values() for name in named if name not in known
    ] == []


def test_the_table_in_the_readme_is_the_committed_one() -> None:
    readme = checks.read("README.md")
    path = checks.ROOT / "reports/reference" / machine_of(readme) / "full.json"
    assert with_excerpt(readme, load(path)) == readme


def test_the_errors_of_predictions_in_the_readme_are_the_committed_ones() -> None:
    page = checks.read("reports/reference/public/predictions.md")
    errors = re.findall(r"^- .*mean (?:absolute error )?(.*? %) of", page, re.M)
    stated = "state {}, peaks {}, times {}.\n".format(*errors)
    assert stated in checks.read("README.md")


def test_the_variant_of_attention_in_contributing_adds_one() -> None:
    added = re.findall(
        r"^\+\+\+ b/(.*)\n((?:\+(?!\+).*\n)+)", checks.read("CONTRIBUTING.md"), re.M
    )
    (listed, line), (path, source) = added
    assert listed == "model/spec/attention_variants.inc"
    found = re.fullmatch(r'\+ATTENTION\((\w+), "([a-z0-9_]+)", (.*)\)\n', line)
    assert found
    name, word, fields = found.groups()
    assert path == f"model/nn/attention/{word}.cc"
    assert f"at::Tensor trainbench::{name}Attention(const at::Tensor& q" in source
    known = checks.read("model/spec/attention_variant.h")
    for field in re.findall(r"\.(\w+) = ", fields):
        assert re.search(rf"^  \S.* {field}\b", known, re.M), field
    included = checks.includes(source.replace("\n+", "\n").removeprefix("+"))
    assert included
    assert [file for file in included if not (checks.ROOT / file).exists()] == []
