# SPDX-License-Identifier: MIT
"""The specs of reports/experiments, and what an experiment without one has."""

import pytest

from reports.answers.answer import answers
from reports.experiments import ordered
from reports.experiments.spec import Spec, Values
from reports.experiments.specs import SPECS
from reports.pages.section import section
from results import ROOT, entry, parsed


def test_every_spec_is_of_an_experiment() -> None:
    assert set(SPECS) <= {path.stem for path in (ROOT / "benchmarks").glob("*.cc")}


def test_a_spec_needs_no_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SPECS, "mine", Spec(sentence=(Values(("sum",)),), plots=()))
    result = parsed(entry("mine/a", 10.0, sum=4.5))
    (answer,) = answers(result)
    assert (answer.name, answer.sentence) == ("mine", "`a` sum 4.5.")
    assert section(result, "mine").figures == []


def test_without_a_spec_there_is_a_default_table_and_plot() -> None:
    made = section(parsed(entry("unheard_of/a", 10.0)), "unheard_of")
    assert [table.lines for table in made.tables] == [[["unheard_of/a", "10 us"]]]
    assert [figure.title for figure in made.figures] == ["unheard_of: time"]
    assert made.sentence == ""
    null = parsed(entry("unheard_of/a", 0.0), context={"device_kind": "null_cuda"})
    assert section(null, "unheard_of").figures == []


def test_sections_are_in_reading_order() -> None:
    assert ordered(["mine", "memory", "model_size"]) == ["model_size", "memory", "mine"]
