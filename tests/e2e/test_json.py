# SPDX-License-Identifier: MIT
"""The JSON result and the raw samples of a good run."""

import json
import math
import re
import time
from collections import Counter
from dataclasses import dataclass
from statistics import mean, median, stdev

import pytest

from program import SMOKE, Json, Program, binary, load, measured
from reports.answers.judging import judgements
from reports.results.rows import parse

REPETITIONS = 3
FLAGS = (
    *SMOKE,
    "--benchmark_filter=model_size/nano",
    "--benchmark_min_time=0.01",
    f"--benchmark_repetitions={REPETITIONS}",
    "--benchmark_out=a.json",
    "--samples_out=a.jsonl",
)
COUNTERS = set(
    "flops flops_per_second bytes bytes_per_second params peak_bytes "
    "predicted_peak_bytes samples min_us p50_us p95_us cv host_us first_call_us "
    "warmup_calls launch_bound forward_us batch seq max_us cpu_us page_faults "
    "context_switches disturbed_calls overhead_us tokens_per_second "
    "samples_per_second".split()
)
PHASES = {
    "forward": {"forward"},
    "forward_backward": {"forward", "loss", "backward"},
    "train_step": {"forward", "loss", "backward", "optimizer"},
}
CONTEXT = set(
    "date host_name command_line git_revision git_dirty suite seed threads device "
    "device_kind device_memory_bytes cpu_model memory_bytes os torch compiler "
    "dtype_policy cpu_allocator sampling suite_version".split()
)


@dataclass(frozen=True)
class Result:
    code: int
    document: Json
    samples: dict[tuple[str, int], Json]  # by name and repetition


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    directory = tmp_path_factory.mktemp("json")
    done = Program(binary("TRAINBENCH_BINARY"), directory).run(*FLAGS)
    lines = (directory / "a.jsonl").read_text().splitlines()
    samples = {(s["name"], s["repetition"]): s for s in map(json.loads, lines)}
    assert len(samples) == len(lines)
    assert not (directory / "a.json.tmp").exists()
    return Result(done.code, load(directory / "a.json"), samples)


def mode_of(row: Json) -> str:
    return str(row["run_name"]).split("/")[3]


def test_the_run_is_good_and_complete(result: Result) -> None:
    assert result.code == 0
    assert result.document["complete"] is True
    assert result.document["skipped"] == []
    assert result.document["errors"] == []


def test_a_row_has_its_parameters_and_findings(result: Result) -> None:
    for row in measured(result.document):
        name = str(row["run_name"]).split("/")
        assert list(row["parameters"].items()) == [
            *zip(("model", "precision", "mode"), name[1:4], strict=True),
            *(("batch", row["batch"]), ("seq", row["seq"])),
        ]
        assert all(isinstance(word, str) for word in row["findings"].values())
        assert "label" not in row


def test_the_run_says_what_it_asked(result: Result) -> None:
    (asked,) = result.document["questions"]
    assert asked["experiment"] == "model_size"
    assert asked["question"].endswith("?") and asked["expect"].endswith(".")


def test_the_expectations_are_those_of_what_ran(result: Result) -> None:
    expectations = result.document["expectations"]
    assert {made["experiment"] for made in expectations} == {"model_size"}
    judged = judgements(parse(result.document))
    assert [judgement.expectation.text for judgement in judged] == [
        "the backward pass takes twice the forward pass"
    ], "the others need a second model or length"


def test_the_context_says_what_was_measured_and_where(result: Result) -> None:
    context = result.document["context"]
    assert context.keys() >= CONTEXT
    assert context["suite"] == "smoke"
    assert context["device_kind"] == "cpu"
    assert context["executable"] == str(binary("TRAINBENCH_BINARY"))
    assert context["threads"] == "1"
    assert "--benchmark_filter=model_size/nano" in context["command_line"]
    assert int(context["device_memory_bytes"]) > 0


def test_names_are_the_cases_alone_and_once_per_repetition(result: Result) -> None:
    clean = re.compile(
        r"model_size/nano/(fp32|bf16_autocast)/"
        r"(forward|forward_backward|train_step)/batch:2/seq:16"
    )
    rows = measured(result.document)
    assert all(clean.fullmatch(row["name"]) for row in rows)
    assert all(row["name"] == row["run_name"] for row in rows)
    assert set(Counter(row["name"] for row in rows).values()) == {REPETITIONS}
    keys = [(row["name"], row["repetition_index"]) for row in rows]
    assert len(set(keys)) == len(keys) == 2 * 3 * REPETITIONS


def test_each_row_has_every_counter(result: Result) -> None:
    for row in measured(result.document):
        phases = {f"{phase}_us" for phase in PHASES[mode_of(row)]}
        assert row.keys() >= COUNTERS | phases
        has = {f"{phase}_us" for phase in PHASES["train_step"]} & row.keys()
        assert has == phases
        assert (row["batch"], row["seq"]) == (2, 16)


def test_counters_agree_with_each_other(result: Result) -> None:
    for row in measured(result.document):
        seconds = row["p50_us"] * 1e-6
        assert row["real_time"] == pytest.approx(row["p50_us"])
        assert row["time_unit"] == "us"
        assert 0 < row["min_us"] <= row["p50_us"] <= row["p95_us"]
        for phase in PHASES[mode_of(row)]:
            ends = ("min", "low", "high", "max")
            least, low, high, most = (row[f"{phase}_{end}_us"] for end in ends)
            assert least <= low <= row[f"{phase}_us"] <= high <= most
        assert row["min_us"] <= row["p50_low_us"] <= row["p50_us"]
        assert row["p50_us"] <= row["p50_high_us"] <= row["max_us"]
        assert row["flops_per_second"] == pytest.approx(row["flops"] / seconds)
        assert row["bytes_per_second"] == pytest.approx(row["bytes"] / seconds)
        assert row["samples"] >= 6
        assert row["tokens_per_second"] == pytest.approx(2 * 16 / seconds)
        assert row["samples_per_second"] == pytest.approx(2 / seconds)
        assert ("loss" in row) == (mode_of(row) != "forward")
        assert row["launch_bound"] == 0
        assert row["peak_bytes"] >= 4 * row["params"] > 0


def test_the_cpu_time_is_the_time_on_a_cpu(result: Result) -> None:
    for row in result.document["benchmarks"]:
        assert row["cpu_time"] == pytest.approx(row["cpu_us"])
    for row in measured(result.document):
        # On a CPU the host does the work itself, however long that takes.
        assert row["host_us"] == pytest.approx(row["real_time"], rel=0.05)


def test_the_peak_is_as_predicted(result: Result) -> None:
    for row in measured(result.document):
        assert row["predicted_peak_bytes"] == pytest.approx(row["peak_bytes"], rel=0.02)


def test_every_number_can_be_computed_again(result: Result) -> None:
    rows = measured(result.document)
    assert len(rows) == len(result.samples)
    for row in rows:
        samples = result.samples[row["name"], row["repetition_index"]]
        assert row["real_time"] == pytest.approx(median(samples["samples_us"]))
        assert row["min_us"] == pytest.approx(min(samples["samples_us"]))
        assert row["host_us"] == pytest.approx(median(samples["host_us"]))
        assert row["samples"] == len(samples["samples_us"])
        assert row["warmup_calls"] == len(samples["warmup_us"])
        assert row["first_call_us"] == pytest.approx(samples["first_call_us"])
        for counter in ("cpu_us", "page_faults", "context_switches"):
            assert row[counter] == pytest.approx(mean(samples[counter]))
        assert samples["phases"].keys() == PHASES[mode_of(row)]
        for phase, times in samples["phases"].items():
            assert row[f"{phase}_us"] == pytest.approx(median(times))
            assert row[f"{phase}_mean_us"] == pytest.approx(mean(times))
            assert row[f"{phase}_stddev_us"] == pytest.approx(stdev(times))
            assert row[f"{phase}_min_us"] == min(times)
            assert row[f"{phase}_max_us"] == max(times)


def test_each_sample_has_its_time(result: Result) -> None:
    for samples in result.samples.values():
        starts = samples["start_seconds"]
        assert starts[0] == 0
        assert starts == sorted(starts)
        assert len(starts) == len(samples["samples_us"])
        # Later than the date of this test, but not in the future.
        assert 1.7e9 < samples["started"] <= time.time()


def test_the_phases_tile_the_step(result: Result) -> None:
    for samples in result.samples.values():
        steps = zip(*samples["phases"].values(), samples["samples_us"], strict=True)
        gaps = [abs(total - sum(phases)) / total for *phases, total in steps]
        assert median(gaps) < 0.02


def test_aggregates_are_those_of_the_repetitions(result: Result) -> None:
    rows = measured(result.document)
    aggregates = {
        (row["run_name"], row["aggregate_name"]): row
        for row in result.document["benchmarks"]
        if row["run_type"] == "aggregate"
    }
    for name in {row["name"] for row in rows}:
        times = [row["real_time"] for row in rows if row["name"] == name]
        mean = aggregates[name, "mean"]["real_time"]
        stddev = aggregates[name, "stddev"]["real_time"]
        assert mean == pytest.approx(sum(times) / REPETITIONS)
        assert aggregates[name, "median"]["real_time"] == pytest.approx(median(times))
        squares = sum((time - mean) ** 2 for time in times)
        assert stddev == pytest.approx(math.sqrt(squares / (REPETITIONS - 1)))
        assert aggregates[name, "cv"]["real_time"] == pytest.approx(stddev / mean)
        assert aggregates[name, "mean"]["name"] == f"{name}_mean"
