# SPDX-License-Identifier: MIT
"""The pages contain the whole result and need no other file."""

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from golden import check_golden
from reports.pages.figures.timelines import COLUMNS
from reports.pages.main import main
from reports.pages.page import facts, page
from reports.pages.render import tables
from reports.pages.sections import Section
from reports.results.result_file import parse
from reports.results.rows import NotAResult
from reports.results.text import Table
from results import REFERENCE, entry, failure, write
from results import document as document_with

STEM = REFERENCE.stem
CONTEXT = {
    "date": "2026-03-01T12:30:00+01:00",
    "device": "Some <b>GPU</b>",
    "cpu_model": "Some CPU",
    "threads": "4",
    "suite": "quick",
    "git_revision": "0123456789abcdef0123",
    "git_dirty": "false",
}


class Reader(HTMLParser):
    """Collects all tags with their attributes, and the text of each section."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.sections: dict[str, str] = {}
        self._section: str | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "section":
            self._section = str(dict(attrs)["id"])
            self.sections[self._section] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self._section = None

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._section is not None:
            self.sections[self._section] += data

    def all(self, attribute: str) -> list[str]:
        return [str(attrs[attribute]) for _, attrs in self.tags if attribute in attrs]


def document(*entries: dict[str, Any], **others: Any) -> dict[str, Any]:
    """A result file with CONTEXT, unless another context is given."""
    return document_with(*entries) | {"context": CONTEXT} | others


def pages(directory: Path, content: dict[str, Any]) -> tuple[Reader, str]:
    """Returns the parsed HTML page, and the Markdown page."""
    assert main([str(write(directory / "run.json", content))]) == 0
    html = (directory / "run.html").read_text()
    return Reader(html), (directory / "run.md").read_text()


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder with the pages of the committed run."""
    directory = tmp_path_factory.mktemp("pages") / "made" / "here"
    assert main([str(REFERENCE), "-o", str(directory), "--csv"]) == 0
    return directory


def test_the_committed_page_is_that_of_the_committed_run(reference: Path) -> None:
    """The golden of all sections and plots; tools/reference --no-run renews it."""

    def files(folder: Path) -> dict[str, str]:
        kinds = ("html", "md", "figures/*.svg")
        paths = (path for kind in kinds for path in folder.glob(f"{STEM}.{kind}"))
        return {str(path.relative_to(folder)): path.read_text() for path in paths}

    made, committed = files(reference), files(REFERENCE.parent)
    assert len(made) > 40
    names = made.keys() | committed.keys()
    assert [name for name in names if made.get(name) != committed.get(name)] == []


def test_tables_as_csv_are_named_by_title(reference: Path) -> None:
    names = {path.stem for path in (reference / f"{STEM}.tables").glob("*.csv")}
    assert {
        "environment",
        "peak-1",
        "expectations-expectations-that-failed",
        "all_reduce-gloo-ranks-2",
    } <= names


def test_tables_with_one_title_have_files_of_their_own() -> None:
    same = [Table(["a"], [["1"]], "x" * 300)] * 2
    one = Section("e", "", "", "", same, [], anchor="e")
    made = tables(replace(page(parse(document())), sections=[one]))
    assert len(made) == 3 and max(map(len, made)) < 200


def test_the_page_needs_no_other_file(reference: Path) -> None:
    html = (reference / f"{STEM}.html").read_text()
    read = Reader(html)
    assert not {"script", "link", "img", "iframe", "object", "base"} & {
        tag for tag, _ in read.tags
    }
    assert read.all("src") == [] and "@import" not in html
    assert re.findall(r"url\((?!#)", html) == []
    links = {link for link in read.all("href") + read.all("xlink:href")}
    assert {link for link in links if not link.startswith("#")} == {f"{STEM}.md"}


def test_ids_are_unique_and_references_lead_to_them(reference: Path) -> None:
    read = Reader((reference / f"{STEM}.html").read_text())
    assert [name for name, count in Counter(read.all("id")).items() if count > 1] == []
    ids = set(read.all("id"))
    links = read.all("href") + read.all("xlink:href") + read.all("clip-path")
    wanted = {name for link in links for name in re.findall(r"#([^)]+)", link)}
    assert wanted and wanted <= ids


def test_pages_of_other_runs(tmp_path: Path) -> None:
    """Covers failures, experiments without an answer, and a null GPU."""
    wrong = document(
        entry("harness/empty", 0.1, "work=empty"),
        entry("harness/spin/us:100", 101, "work=spin", us=100),
        entry("harness/empty/us:2", 2, "work=empty | wide=±300 %", half_width=1),
        context=CONTEXT | {"git_dirty": "true"},
        skipped=[{"name": "harness/spin/us:7", "reason": "no clock that fine"}],
        errors=[{"name": "ddp/flat/tiny", "reason": "rank 1 died of signal 9"}],
        complete=False,
    )
    unknown = document(
        entry("unknown/a", 1500, peak_bytes=2048),
        entry("unknown/b", 2),
        entry("transfer/alone", 3, "direction=memcpy", size=1),
    )
    sizes = [
        entry(f"peak/matmul/fp32/m:{m}", 0, "work=matmul", peak_bytes=2048, m=m)
        for m in (1, 2)
    ]
    null = document(*sizes, context={"device_kind": "null_cuda"})
    printed = {}
    for name, content in {"wrong": wrong, "unknown": unknown, "null": null}.items():
        asked = [
            {"experiment": one, "question": f"What of {one}?", "expect": "Nothing."}
            for one in ("ddp", "harness", "peak", "transfer")
        ]
        read, markdown = pages(tmp_path, content | {"questions": asked})
        warned = [attrs for _, attrs in read.tags if attrs.get("class") == "warning"]
        assert len(warned) == markdown.count("> **Note:**")
        html = [" ".join(text.split()) for text in read.sections.values()]
        printed[name] = "\n".join([markdown, "HTML:", *html])
    check_golden("pages.txt", printed)


def test_hostile_words_stay_words(tmp_path: Path) -> None:
    evil = '"><script>alert(1)</script><img src=x onerror=y>'
    axis, kinds = "implementation", ("textbook", evil.replace(" ", ""))
    content = document(
        entry(f"{evil}/a|b", 5),
        entry("transfer/a", 1, f"direction={evil}", size=1, bytes_per_second=1e9),
        entry("transfer/b", 1, f"direction={evil}", size=9, bytes_per_second=1e9),
        *(entry(f"fused_ops/{i}", 1, f"{axis}={i} precision=a](b)") for i in kinds),
        context=CONTEXT | {"suite": evil, evil: evil},
        skipped=[{"name": "a", "reason": f"`{evil}`\n\n# no heading"}],
        errors=[
            {"name": "`\n# no name`<script", "reason": "$x_{ | [a](b) *c*"},
            {"name": "contents", "reason": "an id of the page"},
        ],
    )
    read, markdown = pages(tmp_path, content)
    assert {"script", "img"} & {tag for tag, _ in read.tags} == set()
    assert f"trainbench: {evil} suite" in read.text
    assert f"`{evil}`" in read.text.replace("\n", "") or evil in read.text
    assert len(read.all("id")) == len(set(read.all("id")))
    assert "\n# no " not in markdown and r"![fused_ops: time, a\](b) over" in markdown
    assert r"$x_{ | \[a](b) \*c\*" in markdown
    assert re.search(r"^\| .*/a\\\|b \| 5 us \|$", markdown, re.MULTILINE)


@pytest.mark.parametrize(
    ("date", "shown"),
    [
        ("2026-03-01T12:30:00+01:00", "2026-03-01 11:30 UTC"),
        ("2026-03-01T12:30:00", "2026-03-01 12:30"),
        ("9999-12-31T23:59:59-05:00", "9999-12-31T23:59:59-05:00"),
        ("today", "today"),
    ],
)
def test_a_date_is_in_utc_if_it_can_be(date: str, shown: str) -> None:
    result = parse(document(context=CONTEXT | {"date": date}))
    assert ("Date", shown) in facts(result)


def test_memory_traces_can_be_elsewhere(tmp_path: Path) -> None:
    content = document(errors=[failure("memory/tiny", "noise")])
    path, there = str(write(tmp_path / "run.json", content)), tmp_path / "there"
    with pytest.raises(NotADirectoryError, match="there: it is not a directory"):
        main([path, f"--memory_trace={there}"])
    there.mkdir()
    cells = "0,8,alloc,8,aten::mm,forward,1,ffn,0,1x2,float"
    (there / "memory_a.csv").write_text(f"{','.join(COLUMNS)}\n{cells}\n")
    assert main([path, f"--memory_trace={there}"]) == 0
    assert "Memory over time" in (tmp_path / "run.md").read_text()
    (there / "memory_other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(NotAResult, match=r"memory_other\.csv: not a memory trace"):
        main([path, f"--memory_trace={there}"])


def test_several_runs_are_no_page(tmp_path: Path) -> None:
    row = entry("e/a", 5)
    first, other = (
        str(write(tmp_path / f"{name}.json", document(row))) for name in "ab"
    )
    expected = f"^{first} and {other} are of different.*\\Z"  # one line
    with pytest.raises(NotAResult, match=expected):
        main([first, other])
    assert not (tmp_path / "a.html").exists()
