# SPDX-License-Identifier: MIT
"""Wrong usage: one line that names the value and what is allowed, and status 2."""

import json
from pathlib import Path

import pytest

from program import Program

GOOD_MODEL = "name=mine,d_model=64,d_ff=128,layers=1,heads=4"

# The flag, and what its line must say.
BAD_VALUES = [
    ("--nonsense", ["'--nonsense'", "--help"]),
    ("--suit=smoke", ["'--suit'", "'--suite'"]),
    ("--models=tiny,smal", ["'smal'", "tiny, small, medium, large, xl, 2.7B"]),
    ("--models=tiny,tiny", ["'tiny' twice", "each model once"]),
    (f"--model={GOOD_MODEL.replace('64', '62')}", ["62", "4", "divide"]),
    (f"--model={GOOD_MODEL.replace('64', '60')}", ["15", "even"]),
    (f"--model={GOOD_MODEL.replace('64', '0')}", ["d_model is 0", "1 to"]),
    (f"--model={GOOD_MODEL.replace('heads=4', 'heads=-4')}", ["heads is -4", "1 to"]),
    (f"--model={GOOD_MODEL.replace(',heads=4', '')}", ["'heads' is missing"]),
    (f"--model={GOOD_MODEL},depth=3", ["'depth'", "layers"]),
    (f"--model={GOOD_MODEL.replace('mine', 'tiny')}", ["'tiny'", "standard"]),
    ("--batch=0", ["--batch is 0", "1 to"]),
    ("--seq=-1", ["--seq is -1", "1 to"]),
    ("--batch=abc", ["'--batch'", "'abc'", "whole number"]),
    ("--batch", ["'--batch'", "no value"]),
    ("--suite=foo", ["'foo'", "smoke, quick, paper"]),
    ("--device=foo", ["'foo'", "auto, cpu, cuda"]),
    ("--threads=-1", ["-1", "1 to 4096"]),
    ("--warmup=-1", ["--warmup is -1", "auto"]),
    ("--warmup=some", ["'some'", "auto"]),
    ("--max_case_seconds=0", ["--max_case_seconds is 0", "more than 0"]),
    ("--child_timeout_seconds=0", ["--child_timeout_seconds is 0", "more than 0"]),
    ("--trace=/proc/nope", ["/proc/nope"]),
    ("--memory_trace=/proc/nope", ["/proc/nope"]),
    ("--peak_tflops=0", ["--peak_tflops is 0", "more than 0"]),
    ("quickly", ["'quickly'", "flags only"]),
    ("--benchmark_min_warmup_time=1", ["--benchmark_min_warmup_time", "--warmup"]),
    ("--benchmark_min_time=soon", ["'soon'", "seconds"]),
    ("--benchmark_repetitions=0", ["'0'", "from 1"]),
    ("--benchmark_format=xml", ["'xml'", "console, json, csv"]),
    ("--benchmark_out_format=csv", ["'csv'", "json"]),
    ("--benchmark_filter=(", ["'('", "regular expression"]),
    ("--benchmark_filter=model_sise/", ["'model_sise/'", "did you mean model_size/"]),
    (
        "--benchmark_filter=^model_size/2.7B/fp32/forward/batch:4/seq:1024",
        ["no case of --suite=quick", "--suite=paper has it"],
    ),
    ("--samples_out=none/a.jsonl", ["none/a.jsonl", "No such file"]),
    ("--samples_out=.", [".", "directory"]),
    ("--samples_out=kept.json", ["'kept.json'", "another file"]),
]


def assert_one_line(err: str, *parts: str) -> None:
    assert err.startswith("trainbench: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1, err
    for part in parts:
        assert part in err


@pytest.mark.parametrize(("flag", "parts"), BAD_VALUES, ids=[b[0] for b in BAD_VALUES])
def test_a_bad_value_costs_one_line(
    trainbench: Program, flag: str, parts: list[str]
) -> None:
    kept = trainbench.directory / "kept.json"
    kept.write_text('{"mine": 1}')
    done = trainbench.run("--benchmark_out=kept.json", flag)
    assert done.code == 2
    assert done.out == ""
    assert_one_line(done.err, *parts)
    assert json.loads(kept.read_text()) == {"mine": 1}
    assert [path.name for path in trainbench.directory.iterdir()] == ["kept.json"]


@pytest.mark.parametrize(
    ("path", "reason"), [("none/a.json", "No such file"), (".", "is a directory")]
)
def test_a_result_that_cannot_be_written_stops_before_the_first_case(
    trainbench: Program, path: str, reason: str
) -> None:
    done = trainbench.run(f"--benchmark_out={path}", "--samples_out=a.jsonl")
    assert done.code == 2
    assert done.out == ""
    assert_one_line(done.err, f"'{path}'", reason, "existing directory")
    assert list(trainbench.directory.iterdir()) == []


def test_a_gpu_that_is_not_there(trainbench: Program) -> None:
    done = trainbench.run("--device=cuda", "--benchmark_list_tests")
    if done.code == 0:
        pytest.skip("there is a usable GPU")
    assert done.code == 2
    assert done.out == ""
    assert_one_line(done.err, "--device is cuda", "no usable GPU", "cpu")


def test_a_bad_variable_is_reported_like_its_flag(trainbench: Program) -> None:
    done = trainbench.run(env={"BENCHMARK_REPETITIONS": "often"})
    assert done.code == 2
    # Google Benchmark has said so in words of its own, before main.
    last = done.err.splitlines(keepends=True)[-1]
    assert_one_line(last, "--benchmark_repetitions is 'often'", "from 1")


def test_a_full_disk_is_status_1_and_one_line(trainbench: Program) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    done = trainbench.run(
        "--suite=smoke",
        "--benchmark_filter=model_size/tiny/fp32/forward/",
        "--benchmark_min_time=0",
        "--samples_out=/dev/full",
    )
    assert done.code == 1
    last = done.err.splitlines(keepends=True)[-1]
    assert_one_line(last, "/dev/full", "No space left")
