# SPDX-License-Identifier: MIT
"""Collects the answers of all experiments."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from reports.answers import breakdown, claims, collectives, memory
from reports.answers.expectations import summary, table
from reports.answers.judging import judgements
from reports.answers.tables import phases_table
from reports.answers.tables import tables as tables_of
from reports.experiments.specs import ordered, spec_of
from reports.results.rows import NULL_GPU, PREDICTED, Asked, Result, grouped
from reports.results.text import Table, listed, plural

# Sentences and tables that a spec cannot express.
_SENTENCES: dict[str, Callable[[Result], str]] = {
    "all_reduce": collectives.sentence,
    "breakdown": breakdown.sentence,
    "transfer": collectives.transfers,
}
_TABLES: dict[str, Callable[[Result], list[Table]]] = {"breakdown": breakdown.tables}
_DETAILS: dict[str, Callable[[Result], list[Table]]] = {
    "breakdown": breakdown.details,
    "memory": memory.details,
}
# What devices that do nothing leave unknown.
_UNMEASURED = {
    NULL_GPU: "This ran on a null GPU, which does nothing: bytes and counts are exact, "
    "times are not measured and values not computed.",
    PREDICTED: "The times are predicted from rates: nothing was measured, and values "
    "are not computed.",
}


@dataclass(frozen=True)
class Answer:
    """The content for one experiment; unknown fields are empty."""

    name: str
    question: str = ""
    expectation: str = ""
    sentence: str = ""  # "" if the result lacks its rows, and on a null GPU
    tables: list[Table] = field(default_factory=list)
    details: list[Table] = field(default_factory=list)  # folded


def answer_of(result: Result, experiment: str) -> Answer:
    """Makes an answer. Errors: NotAResult, if a row lacks a part that it must have."""
    rows, spec = result.of(experiment), spec_of(experiment)
    is_timed = not result.of_null_gpu
    sentences = [claims.sentence(rows, spec.sentence)] if is_timed else []
    if is_timed and experiment in _SENTENCES:
        sentences.append(_SENTENCES[experiment](result))
    sentence = " ".join(filter(None, sentences))
    own = _TABLES.get(experiment) if is_timed else None
    tables = own(result) if own else tables_of(rows, spec, is_timed)
    phases = phases_table(rows) if is_timed else None
    details = _DETAILS[experiment](result) if experiment in _DETAILS else []
    if phases is not None:
        place = 0 if spec.phases == "first" else len(tables)
        (details if spec.phases == "folded" else tables).insert(place, phases)
    asked = result.questions.get(experiment, Asked(experiment, "", ""))
    return Answer(experiment, asked.question, asked.expect, sentence, tables, details)


def answers(result: Result) -> list[Answer]:
    """Makes the answers of the experiments that have rows, in reading order."""
    names = ordered(row.experiment for row in result.rows)
    return [answer_of(result, name) for name in names]


def _why(reasons: list[str]) -> str:
    """States the first reason, and counts others, apart those with another path."""
    different = dict.fromkeys(reason.partition(";")[0] for reason in reasons)
    kinds = grouped(different, lambda reason: re.sub(r"\S*/\S*", "", reason))
    (first, *like), *others = kinds.values()
    parts = [first]
    parts += [f"{plural(len(like), 'other')} like it"] if like else []
    parts += [plural(len(others), "other reason")] if others else []
    return listed(parts)


def skipped_sentence(result: Result) -> str:
    """States how many cases of each experiment were skipped, and why; "" if none."""
    cases = grouped(result.skipped, lambda case: case.experiment)
    if not cases:
        return ""
    parts = [
        f"{len(each)} of `{experiment}` ({_why([c.reason for c in each])})"
        for experiment, each in cases.items()
    ]
    return f"{plural(len(result.skipped), 'case')} skipped: {', '.join(parts)}."


def unmeasured(result: Result) -> str:
    """Returns a line on a device that did nothing, or ""."""
    return _UNMEASURED.get(result.context.get("device_kind", ""), "")


def incomplete(result: Result) -> str:
    """Returns a line on shards that are not here or on an early stop, or ""."""
    if shard := result.context.get("shard"):
        return f"Only part {shard} of the run is here: cases are missing."
    return "" if result.complete else "The run was stopped early: cases are missing."


def failed_sentence(result: Result) -> str:
    """States how many cases failed or computed a wrong result; "" if none."""
    said = [f"{plural(len(result.errors), 'case')} failed."] if result.errors else []
    if wrong := sum("wrong" in row.findings for row in result.rows):
        rows = plural(wrong, "row")
        said.append(f"{rows} with a wrong result: such times and ratios mean nothing.")
    return " ".join(said)


def markdown(result: Result) -> str:
    """Formats expectations, failed ones first, and answers without details, under
    third-level headings."""
    parts = [unmeasured(result)]
    if judged := judgements(result):
        parts += ["### Expectations", summary(judged), table(judged).markdown()]
    for answer in answers(result):
        parts.append(f"### `{answer.name}`")
        parts.append(f"*{answer.question}*" if answer.question else "")
        parts += [answer.sentence, *(one.markdown() for one in answer.tables)]
    parts += [skipped_sentence(result), failed_sentence(result), incomplete(result)]
    return "\n\n".join(filter(None, parts))
