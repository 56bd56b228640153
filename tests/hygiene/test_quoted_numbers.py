# SPDX-License-Identifier: MIT
"""The search for numbers that were never measured finds them."""

import pytest
from quoted_numbers import printed_lines, prose, stale_phrases, unknown_numbers

EVIDENCE = [
    "model_size/small/fp32/train_step    887 ms  ±3.2%   107 GFLOP/s  1.92 GiB",
    "Fused AdamW over `small` is 3.19 times as fast as the textbook form.",
    "203 cases: 203 measured, 1,024 skipped",
]


@pytest.mark.parametrize(
    "text",
    [
        "The step of a small model takes 887 ms.",
        "The step of a small model takes 887ms, at 107 GFLOP/s.",
        "A small model needs **1.92 GiB**.",
        "`small` needs `1.92 GiB` (±3.2 %).",
        "| small | 887 ms |",
        "Fused is 3.19 times as fast.",
        "203 cases were measured.",
        "All 1,024 skipped and no measured ones.",
        # Names and flags.
        "fp32, bf16, C++20, CS336, QK^T, 2D, sha256 and `--ranks=2`, `a:12/b`",
        "See [the log](results/12.5.json).",
        "```\ntools/bench --seq=512\n```",
        "<!-- answers: x -->\n9.99 ms\n<!-- /answers -->",
        "No number at all.",
    ],
)
def test_what_is_known(text: str) -> None:
    assert unknown_numbers(text, EVIDENCE, []) == []


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("A small model takes 886 ms.", "'886 ms'"),
        ("A small model takes 887 us.", "'887 us'"),
        ("A small model takes 88 ms.", "'88 ms'"),
        ("A small model takes 7 ms.", "'7 ms'"),
        ("A small model needs 92 GiB.", "'92 GiB'"),
        ("A small model needs 0.92 GiB.", "'0.92 GiB'"),
        # The number of something else.
        ("A tiny model takes 887 ms.", "'887 ms'"),
        ("Fused is 3.2 times as fast.", "'3.2 times'"),
        ("204 cases were measured.", "'204 cases'"),
        ("203 rows were measured.", "'203 rows'"),
        ("Of those measured, 203", "'203'"),
        ("All 1,025 skipped and no measured ones.", "'1,025 skipped'"),
        ("A small model takes `886 ms`.", "'886 ms'"),
        ("| small | 886 ms |", "'886 ms'"),
        ("CUDA 13.1 is needed", "'13.1 is'"),
    ],
)
def test_what_is_not(text: str, quoted: str) -> None:
    (unknown,) = unknown_numbers(text, EVIDENCE, [])
    assert unknown.startswith(f"{quoted} in: ")


def test_a_phrase_frees_its_own_number_alone() -> None:
    text = "It needs\nCUDA 13.0. CUDA 13.1 is better."
    assert unknown_numbers(text, [], ["CUDA 13.0", "CUDA 13.1"]) == []
    (unknown,) = unknown_numbers(text, [], ["CUDA 13.0"])
    assert unknown.startswith("'13.1 is'")


def test_a_phrase_has_a_number_and_is_in_the_document() -> None:
    phrases = ["CUDA 13.0", "CUDA 12", "It needs"]
    assert stale_phrases("It needs CUDA 13.0.", phrases) == ["CUDA 12", "It needs"]


def test_code_keeps_its_letters() -> None:
    assert prose("a\n`x.12`  [b](c/1.5) `1.5 ms`\n") == "a x [b] 1.5 ms"


def test_printed_lines() -> None:
    text = """Type
```
tools/bench   # 12
```
or
```yaml
- run: tools/bench --seq=12
```
and see
```
git_revision: 1

case   1 ms\x20\x20
...
```
"""
    assert printed_lines(text) == ["git_revision: 1", "case   1 ms"]
