# SPDX-License-Identifier: MIT
"""What the documents name is there, and what they quote was measured."""

import checks
import pytest
import quoted_numbers

REFERENCE = checks.ROOT / "reports/reference"

# The numbers of README.md that no run has: each in its phrase, and why it is none.
NOT_MEASURED = {
    "2-core VM": "what the reference machine is",
    "95 % confidence interval": "the level that the table's intervals have",
    "can pass 100 % of peak": "the bound that is spoken of",
    "1 if that is 90 % of the step": "the rule of launch_bound",
    "A share above 1": "the bound that is spoken of",
    "Exit status: 0 all rows good": "exit status",
    "1 an ERROR row": "exit status",
    "2 wrong usage": "exit status",
    "3 set-up or build failed": "exit status",
    "makes RMSNorm take 1.3 times as long": "how the commit was made",
    "lies beyond 2 %": "the default of --threshold",
    "together with 95 % confidence": "the level that the intervals have",
    "Exit status: 0 good": "exit status",
    "1 a row regressed": "exit status",
    "2 nothing to compare": "exit status",
    "rank 0 reports": "the number of a rank",
    "below 0)": "the bound that is spoken of",
    "CMake 3.25": "version",
    "Python 3.11": "version",
    "LibTorch 2.11.0": "version",
    "CUDA 13.0": "version",
    "compute capability 8.0 and 9.0": "names of GPU architectures",
}

# What README.md quotes of the calibration, and where its tables have it.
CALIBRATED = {
    "On 40 processes of one binary": "`same_binary.json`: 40 processes",
    "calls 97 % of any two of them different": "| at least one of them |  | 97 % |",
    "a false REGRESSED in 1.2 % of the tables": "| any | 0.46 % | 1.2 % |",
}


def reference_lines() -> list[str]:
    """Of the committed runs, what a person reads: tables, answers, pages."""
    texts = [
        path.read_text(encoding="utf-8")
        for path in sorted(REFERENCE.glob("*/*"))
        if path.suffix in (".txt", ".md")
    ]
    # Generated from the run, which a test of its own compares.
    answers = checks.read("README.md").partition("<!-- answers:")[2]
    texts.append(answers.partition("<!-- /answers -->")[0])
    return [line.rstrip() for text in texts for line in text.splitlines()]


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_every_path_exists(document: str) -> None:
    text = checks.read(document)
    assert checks.paths_in(text)
    missing = checks.missing_paths(text, lambda path: (checks.ROOT / path).exists())
    assert missing == []


def test_what_the_readme_shows_as_printed_was_printed() -> None:
    shown = quoted_numbers.printed_lines(checks.read("README.md"))
    assert len(shown) > 10
    assert set(shown) - set(reference_lines()) == set()


def test_every_number_in_the_readme_was_measured_or_is_known() -> None:
    unknown = quoted_numbers.unknown_numbers(
        checks.read("README.md"), reference_lines(), {**NOT_MEASURED, **CALIBRATED}
    )
    assert unknown == [], "not in reports/reference; if never measured: NOT_MEASURED"


def test_nothing_is_free_that_the_readme_does_not_say() -> None:
    readme = checks.read("README.md")
    phrases = {**NOT_MEASURED, **CALIBRATED}
    assert quoted_numbers.stale_phrases(readme, phrases) == []


@pytest.mark.parametrize("phrase", CALIBRATED)
def test_what_the_readme_says_of_the_calibration_is_in_its_tables(phrase: str) -> None:
    assert CALIBRATED[phrase] in checks.read("reports/calibration/README.md")


@pytest.mark.parametrize(
    "planted",
    [
        # Of more digits than anything is printed with.
        "A training step of `small` takes 886.37 ms.",
        "The fused optimizer is 3.1937 times as fast.",
        "`flat` has a scaling efficiency of 57.31 %.",
        "9204 cases were measured.",
        "It needs CUDA 13.1.",
        "The VM has 3 cores.",
        "It takes `886.37 ms`.",
        "Naive attention takes **0.5731 ms**.",
        "One update moves 26.837 GB/s.",
    ],
)
def test_a_wrong_number_in_the_readme_is_found(planted: str) -> None:
    readme = checks.read("README.md").replace("## What to type", planted, 1)
    phrases = {**NOT_MEASURED, **CALIBRATED}
    (unknown,) = quoted_numbers.unknown_numbers(readme, reference_lines(), phrases)
    assert planted.replace("`", "").replace("**", "") in unknown
