# SPDX-License-Identifier: MIT
"""The answers of a run, computed from its result file: per experiment the question,
one sentence with numbers, and a table."""

from reports.answers.answer import Answer, answers, markdown

__all__ = ["Answer", "answers", "markdown"]
