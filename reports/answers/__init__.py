# SPDX-License-Identifier: MIT
"""What a run answers: for each experiment its question, one sentence with
numbers, and a table, all computed from the result file."""

from reports.answers.answer import Answer, answers, markdown

__all__ = ["Answer", "answers", "markdown"]
