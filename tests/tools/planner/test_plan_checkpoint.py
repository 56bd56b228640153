# SPDX-License-Identifier: MIT
"""tools/plan --checkpoint: the benefit and the cost of recomputation."""

import json
from typing import Any

import pytest

from plan_program import check_usage_error, needs_plan, plan, run

pytestmark = needs_plan

CHOICES = "none,attention,every_1,every_4,every_sqrt"
MODEL = "name=m,d_model=256,d_ff=1024,layers=8,heads=8,vocab=1000"
ALL = (
    *(f"--model={MODEL}", "--models=m", "--precision=bf16_autocast"),
    *("--batch=16", "--seq=128", f"--checkpoint={CHOICES}"),
)


def rows_of(*flags: str) -> dict[str, dict[str, Any]]:
    document = json.loads(plan("--json", *flags))
    return {row["checkpoint"]: row for row in document["rows"]}


def test_what_fits_grows_with_what_is_recomputed() -> None:
    rows = rows_of(*ALL)
    assert list(rows) == CHOICES.split(",")
    none, attention, one = rows["none"], rows["attention"], rows["every_1"]
    for key in ("largest_seq", "largest_batch"):
        for some in (attention, rows["every_4"]):
            assert none[key] < some[key] < one[key]
    assert none["predicted_peak_bytes"] > 1.2 * one["predicted_peak_bytes"]
    assert none["recomputed_flops"] == 0
    # The blocks have all FLOPs except the head's; a third of them are forward.
    forward = one["flops"] / 3
    assert 0.9 * forward < one["recomputed_flops"] < forward
    assert rows["every_4"]["recomputed_flops"] == one["recomputed_flops"]
    assert attention["recomputed_flops"] < 0.1 * one["recomputed_flops"]
    # Recomputed FLOPs do not count as FLOPs of the model.
    assert {row["flops"] for row in rows.values()} == {none["flops"]}


def test_the_table_compares_each_choice_with_the_first() -> None:
    text = plan(*ALL)
    _, _, table = text.partition("\ncheckpointing, bf16_autocast train_step\n")
    head, *lines = table.split("\n\n")[0].splitlines()
    assert head.split()[:2] == ["model", "checkpoint"]
    cells = {line.split()[1]: line.split() for line in lines[:5]}
    assert list(cells) == CHOICES.split(",")
    rows = rows_of(*ALL)
    for name, line in cells.items():
        longer = rows[name]["largest_seq"] / rows["none"]["largest_seq"]
        at = line.index(str(rows[name]["largest_seq"]))
        assert float(line[at + 1]) == pytest.approx(longer, abs=0.006)
    assert "HFU" in table


def test_a_model_says_itself_what_it_recomputes() -> None:
    flags = (f"--model={MODEL},checkpoint=every_2", "--models=m")
    (row,) = json.loads(plan("--json", *flags))["rows"]
    assert row["checkpoint"] == "every_2"
    assert "\ncheckpointing," not in plan(*flags)
    assert list(rows_of(*flags, "--checkpoint=none")) == ["none"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("every_0", ["checkpoint is 'every_0'", "none, attention, every_sqrt"]),
        ("none,none", ["checkpoint 'none' is given twice"]),
        ("all", ["checkpoint is 'all'"]),
    ],
)
def test_a_wrong_choice_is_named(value: str, words: list[str]) -> None:
    check_usage_error(run(f"--checkpoint={value}"), words)
