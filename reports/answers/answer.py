# SPDX-License-Identifier: MIT
"""Collects the answers of all experiments."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from reports.answers.expectations import summary, table
from reports.answers.judging import judgements
from reports.experiments import known
from reports.results.rows import Result
from reports.results.text import Table, plural

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Answer:
    experiment: str
    question: str
    sentence: str
    table: Table
    details: list[Table] = field(default_factory=list)


def _comment_of(experiment: str, pattern: str, what: str) -> str:
    """One part of the comment that opens the experiment's source, on one line."""
    path = ROOT / "benchmarks" / f"{experiment}.cc"
    if not path.exists():  # the result is of another program
        return ""
    found = re.search(pattern, path.read_text(encoding="utf-8"), re.DOTALL)
    if found is None:
        raise ValueError(f"benchmarks/{experiment}.cc states no {what}")
    return re.sub(r"\s*\n//\s*", " ", found.group(1))


def question_of(experiment: str, result: Result | None = None) -> str:
    """What the run asked; else the `// Question:` comment of benchmarks/ today."""
    if result is not None and experiment in result.questions:
        return result.questions[experiment].text
    return _comment_of(experiment, r"// Question: (.*?)\n// Expect:", "question")


def expectation_of(experiment: str, result: Result | None = None) -> str:
    """What the run expected; else the `// Expect:` comment of benchmarks/ today."""
    if result is not None and experiment in result.questions:
        return result.questions[experiment].expect
    return _comment_of(experiment, r"\n// Expect: (.*?)\n(?!//)", "expectation")


def answers(result: Result) -> list[Answer]:
    """The answers to all questions for which the result has the rows."""
    found = []
    for experiment in known():
        told = answer_of(result, experiment)
        if told is not None:
            found.append(
                Answer(
                    experiment,
                    question_of(experiment, result),
                    *told,
                    details_of(result, experiment),
                )
            )
    return found


def details_of(result: Result, experiment: str) -> list[Table]:
    """The further tables of one experiment."""
    return known()[experiment].details(result) if experiment in known() else []


def answer_of(result: Result, experiment: str) -> tuple[str, Table] | None:
    """The sentence and the table of one experiment.

    None if it has neither, and on a null GPU, because most are about times.
    """
    if result.of_null_gpu or experiment not in known():
        return None
    return known()[experiment].answer(result)


def skipped_sentence(result: Result) -> str:
    """One line: how many cases of each experiment, and why; "" if there are none."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for case in result.skipped:
        reasons[case.name.partition("/")[0]].append(case.reason)
    if not reasons:
        return ""
    parts = [
        f"{len(each)} of `{experiment}` ({each[0].partition(';')[0]})"
        for experiment, each in reasons.items()
    ]
    return f"{plural(len(result.skipped), 'case')} skipped: {', '.join(parts)}."


def _missing(result: Result) -> list[str]:
    """A line about each kind of cases that were not measured."""
    failed = f"{plural(len(result.errors), 'case')} failed." if result.errors else ""
    stopped = "" if result.complete else "The run was stopped early."
    return list(filter(None, [skipped_sentence(result), failed, stopped]))


def _expectations(result: Result) -> list[str]:
    """What became of the expectations, failed ones first."""
    judged = judgements(result)
    if not judged:
        return []
    return [f"### Expectations\n\n{summary(judged)}\n\n{table(judged).markdown()}"]


def markdown(result: Result) -> str:
    """Expectations and answers in Markdown, under headings of the third level."""
    parts = [
        f"### `{answer.experiment}`\n\n*{answer.question}*\n\n"
        f"{answer.sentence}\n\n"
        + "\n\n".join(one.markdown() for one in (answer.table, *answer.details))
        for answer in answers(result)
    ]
    return "\n\n".join(_expectations(result) + parts + _missing(result))
