# SPDX-License-Identifier: MIT
"""Puts the answers of the experiments together."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reports.answers import attention, memory, models, numerics, parallel, rates
from reports.results.rows import Failure, Result
from reports.results.text import Table, plural

ROOT = Path(__file__).resolve().parents[2]

# In the order in which a reader wants them. Each gives a sentence and a table,
# or nothing if the result lacks the rows that it needs.
Teller = Callable[[Result], tuple[str, Table] | None]
TELLERS: dict[str, Teller] = {
    "model_size": models.model_size,
    "breakdown": models.breakdown,
    "memory": memory.memory,
    "precision": models.precision,
    "attention_scaling": attention.attention_scaling,
    "softmax_vs_matmul": attention.softmax_vs_matmul,
    "optimizer": models.optimizer,
    "warmup": models.warmup,
    "peak": rates.peak,
    "transfer": rates.transfer,
    "all_reduce": parallel.all_reduce,
    "ddp": parallel.ddp,
    "sharded_optimizer": parallel.sharded_optimizer,
    "accumulation": numerics.accumulation,
    "autocast_dtypes": numerics.autocast_dtypes,
    "norm_precision": numerics.norm_precision,
    "harness": rates.harness,
}


@dataclass(frozen=True)
class Answer:
    experiment: str
    question: str
    sentence: str
    table: Table


def _comment_of(experiment: str, pattern: str, what: str) -> str:
    """The part of the opening comment of the experiment's file, on one line."""
    source = (ROOT / "benchmarks" / f"{experiment}.cc").read_text(encoding="utf-8")
    found = re.search(pattern, source, re.DOTALL)
    if found is None:
        raise ValueError(f"benchmarks/{experiment}.cc states no {what}")
    return re.sub(r"\s*\n//\s*", " ", found.group(1))


def question_of(experiment: str) -> str:
    """The `// Question:` comment of the experiment's file."""
    return _comment_of(experiment, r"// Question: (.*?)\n// Expect:", "question")


def expectation_of(experiment: str) -> str:
    """The `// Expect:` comment of the experiment's file, to the comment's end."""
    return _comment_of(experiment, r"\n// Expect: (.*?)\n(?!//)", "expectation")


def answers(result: Result) -> list[Answer]:
    """One for each experiment that the result can answer."""
    told = []
    for experiment, teller in TELLERS.items():
        answer = teller(result)
        if answer is not None:
            told.append(Answer(experiment, question_of(experiment), *answer))
    return told


def _count(failures: list[Failure], what: str) -> list[str]:
    if not failures:
        return []
    return [f"{plural(len(failures), 'case')} {what}"]


def _missing(result: Result) -> list[str]:
    """What the answers do not know, in one line if there is anything."""
    missing = _count(result.skipped, "skipped") + _count(result.errors, "failed")
    line = f"Not measured: {', '.join(missing)}" if missing else ""
    if not result.complete:
        line += "; the run was stopped early" if line else "The run was stopped early"
    return [line + "."] if line else []


def markdown(result: Result) -> str:
    """All answers as a part of a page, under headings of the third level."""
    parts = [
        f"### `{answer.experiment}`\n\n*{answer.question}*\n\n"
        f"{answer.sentence}\n\n{answer.table.markdown()}"
        for answer in answers(result)
    ]
    return "\n\n".join(parts + _missing(result))
