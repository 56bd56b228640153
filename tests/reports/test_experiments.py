# SPDX-License-Identifier: MIT
"""The specs of reports/experiments, and the page without one."""

import pytest

from reports.answers.answer import answers
from reports.experiments import ordered
from reports.experiments.spec import Spec, Values
from reports.experiments.specs import SPECS
from reports.pages.page import page
from reports.pages.render import as_html, as_markdown
from reports.pages.section import section
from reports.results.rows import parse
from results import document, entry


def test_a_spec_needs_no_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SPECS, "mine", Spec(sentence=(Values(("sum",)),), plots=()))
    result = parse(document(entry("mine/a", 10.0, sum=4.5)))
    (answer,) = answers(result)
    assert (answer.name, answer.sentence) == ("mine", "`mine` sum 4.5.")
    assert answer.question == ""  # no such file in benchmarks/
    assert section(result, "mine").figures == []


def test_without_a_spec_there_is_a_default_table_and_plot() -> None:
    made = section(parse(document(entry("unheard_of/a", 10.0))), "unheard_of")
    assert [table.lines for table in made.tables] == [[["unheard_of/a", "10 us"]]]
    assert [figure.title for figure in made.figures] == ["unheard_of: time"]
    assert made.sentence == ""


def test_the_page_shows_the_default_table_and_plot() -> None:
    rows = [entry(f"unheard_of/case/n:{n}", 10.0 * n) for n in (1, 2)]
    questions = [{"experiment": "unheard_of", "question": "Why not?", "expect": "So."}]
    result = parse(document(*rows) | {"questions": questions})
    html = as_html(page([result]), "page.md")
    shown = html[html.index('<section id="unheard_of"') :]
    shown = shown[: shown.index("</section>")]
    assert "Why not?" in shown and "So." in shown
    for n in (1, 2):
        assert f">{n}</t" in shown  # a cell of the table
    assert "<svg" in shown and "unheard_of: time" in shown
    markdown = as_markdown(page([result]), "page", "page.html")
    assert "| 2 | 20 us |" in markdown
    assert "unheard_of: time" in markdown


def test_a_null_gpu_has_no_answers_and_plots() -> None:
    result = parse(
        document(entry("unheard_of/a", 0.0), context={"device_kind": "null_cuda"})
    )
    assert section(result, "unheard_of").figures == []


def test_sections_are_in_reading_order() -> None:
    assert ordered(["mine", "memory", "model_size"]) == ["model_size", "memory", "mine"]
