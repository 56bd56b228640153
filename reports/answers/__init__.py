# SPDX-License-Identifier: MIT
"""A run's answers, computed from its result file: for each experiment the question, one
sentence with numbers, and tables."""

from reports.answers.answer import Answer, answers, markdown

__all__ = ["Answer", "answers", "markdown"]
