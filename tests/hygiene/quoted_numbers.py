# SPDX-License-Identifier: MIT
"""Finds numbers in a document that no committed run has.

A quoted number must stand in a line of the evidence, with its unit, or if it has none
with the word behind it ("203 cases"; with a decimal point it may stand alone, "3.19
times"), and that line must be of the same thing: it shares a word with the sentence, a
model's name, say. What was never measured (a version, a rule) is listed as a phrase, so
that its number is free there alone.
"""

import re
from collections.abc import Iterable

UNITS = (
    r"%|[numµ]?s|min|h|B|[KMGT]i?B|[kMGTP]?B/s|[kMGTP]?FLOPs?|[kMGTP]?FLOP/s|[MG]Hz|W"
)
# Not the digits of a word (fp32, C++20, 2D), of a path or of a longer number.
NUMBER = re.compile(
    r"(?<![\w.,/+-])[-+±]?"
    r"(?P<value>\d+(?:,\d{3})*(?:\.\d+)*(?:e[-+]?\d+)?)"
    rf"(?:\s?(?P<unit>{UNITS})(?![\w/])|(?!\w))"
    r"(?:\s(?P<next>[a-zA-Z]+))?"
)
# Words that say nothing about what a number is of.
IDLE = set(
    "about after also before case cases each ends from have less more most number only "
    "over peak runs says step takes than that their them then there they this time "
    "times what when where which with".split()
)
COMMAND = re.compile(
    r"^\s*(?:tools/|build/|\.venv/|\.ci/|bencher |cmake |export |git )", re.M
)


def blocks(markdown: str) -> list[str]:
    """Code blocks without a language: output, or commands."""
    found = re.findall(r"^```([^\n]*)\n(.*?)^```", markdown, re.M | re.S)
    return [block for language, block in found if not language]


def printed_lines(markdown: str) -> list[str]:
    """The lines of code blocks that show output, not what to type."""
    shown = [block for block in blocks(markdown) if not COMMAND.search(block)]
    lines = [line.rstrip() for block in shown for line in block.splitlines()]
    return [line for line in lines if line not in ("", "...")]


def prose(markdown: str) -> str:
    """On one line; without code blocks, what is generated, and the targets of links.

    Of a flag or a name only the letters are left: `--ranks=2` quotes no number.
    """

    def code(found: re.Match[str]) -> str:
        return found[1] if found[1][:1].isdigit() else re.sub(r"[\d.]", "", found[1])

    text = re.sub(r"<!-- answers:.*?<!-- /answers -->", "", markdown, flags=re.S)
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"`([^`]*)`", code, text)
    text = re.sub(r"\|[ ]*$", "|.", text, flags=re.M)  # a table's row is a sentence
    return " ".join(text.replace("**", "").split())


def subjects(text: str) -> set[str]:
    return set(re.findall(r"[a-z][a-z_]{3,}", text.lower())) - IDLE


def occurs(quoted: str, line: str) -> bool:
    """As a whole: 1 is not in 12, 12.1 or 0.1."""
    pattern = rf"(?<![\w.,]){re.escape(quoted)}(?!\w|[.,]\d)"
    return re.search(pattern, line) is not None


def candidates(found: re.Match[str]) -> list[str]:
    """How the evidence may have this number."""
    value, unit = found["value"], found["unit"]
    if unit:
        return [f"{value} {unit}", f"{value}{unit}"]
    if "." in value:
        return [value]
    return [f"{value} {found['next']}"] if found["next"] else []


def unknown_numbers(
    markdown: str, evidence: Iterable[str], phrases: Iterable[str]
) -> list[str]:
    """The numbers that neither the evidence's lines nor a phrase has, with their place."""
    text = prose(markdown)
    for phrase in phrases:
        text = text.replace(phrase, "...")
    lines = [(line, subjects(line)) for line in evidence]
    unknown = []
    for sentence in re.split(r"(?<=[.;:!?])\s", text):
        words = subjects(sentence)
        for found in NUMBER.finditer(sentence):
            wanted = candidates(found)
            if not any(
                words & of and any(occurs(quoted, line) for quoted in wanted)
                for line, of in lines
            ):
                unknown.append(f"'{found[0]}' in: {sentence}")
    return unknown


def stale_phrases(markdown: str, phrases: Iterable[str]) -> list[str]:
    """Phrases that the document no longer has, or that free no number."""
    text = prose(markdown)
    return [p for p in phrases if p not in text or not NUMBER.search(p)]
