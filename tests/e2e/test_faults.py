# SPDX-License-Identifier: MIT
"""An error in an experiment costs only its own row."""

import pytest

from processes import Finished
from program import FAST, OUT, SAMPLES, Program, measured, names

GOOD = ["fault/good/n:0", "fault/good/n:1"]
REPETITIONS = 3

# The required reason in the error of each case.
REASONS = {
    "throws_in_second_build": "cannot be built again",
    "wrong": "wrong result: c[0] is 3, should be 4",
    "throws": "no third call",
    "no_memory": "281474976710656 bytes",
}


def run(faults: Program, *kinds: str, flags: tuple[str, ...] = ()) -> Finished:
    cases = f"--benchmark_filter=/(good|{'|'.join(kinds)})"
    return faults.run(cases, *FAST, OUT, *flags, code=1)


@pytest.mark.parametrize("interleaved", ["false", "true"])
def test_every_fault_is_an_error_and_the_others_are_measured(
    faults: Program, interleaved: str
) -> None:
    done = run(
        faults,
        *(f"{kind}/" for kind in REASONS),
        flags=(
            f"--benchmark_enable_random_interleaving={interleaved}",
            f"--benchmark_repetitions={REPETITIONS}",
            SAMPLES,
        ),
    )
    document = faults.result()
    assert document["complete"] is True
    rows = names(measured(document))
    assert sorted(rows) == sorted(GOOD * REPETITIONS)
    assert {row["run_name"] for row in document["benchmarks"]} == set(GOOD)
    for kind, reason in REASONS.items():
        name = f"fault/{kind}/n:0"
        errors = [e for e in document["errors"] if e["name"] == name]
        assert [e["repetition_index"] for e in errors] == list(range(REPETITIONS))
        assert all(reason in e["reason"] for e in errors), (kind, errors)
    assert len(document["errors"]) == REPETITIONS * len(REASONS)
    sampled = names(faults.samples())
    assert sorted(name for name in sampled if name in GOOD) == sorted(rows)
    assert f"{len(document['errors'])} failed" in done.stdout


@pytest.mark.parametrize("output", ["json", "csv", "console"])
def test_every_format_tells_of_the_error(faults: Program, output: str) -> None:
    done = run(faults, "throws/", flags=(f"--benchmark_format={output}",))
    assert "no third call" in done.stdout
    assert names(faults.result()["errors"]) == ["fault/throws/n:0"]


def test_the_end_of_the_process_keeps_the_rows_before_it(faults: Program) -> None:
    done = run(faults, "terminates", flags=(SAMPLES,))
    assert "uncaught exception: nobody catches this" in done.stderr
    document = faults.result()
    assert document["complete"] is False
    assert names(document["benchmarks"]) == GOOD[:1]
    assert names(faults.samples()) == GOOD[:1]
    left = {path.name for path in faults.directory.iterdir()}
    assert left == {"a.json", "a.jsonl"}
