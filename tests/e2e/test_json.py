# SPDX-License-Identifier: MIT
"""The JSON result and the raw samples of a good run."""

import time
from dataclasses import dataclass
from statistics import mean, median, stdev

import pytest

from program import OUT, SAMPLES, SMOKE, Json, Program, measured

FLAGS = (
    *SMOKE,
    "--benchmark_filter=model_size/nano",
    "--benchmark_min_time=0.01",
    "--benchmark_repetitions=3",
    *(OUT, SAMPLES),
)
PHASES = {
    "forward": {"forward"},
    "forward_backward": {"forward", "loss", "backward"},
    "train_step": {"forward", "loss", "backward", "optimizer"},
}


@dataclass(frozen=True)
class Result:
    document: Json
    samples: dict[tuple[str, int], Json]  # by name and repetition


@pytest.fixture(scope="module")
def result(shared: Program) -> Result:
    shared.run(*FLAGS)
    lines = shared.samples()
    samples = {(line["name"], line["repetition"]): line for line in lines}
    assert len(samples) == len(lines)
    assert not (shared.directory / "a.json.tmp").exists()
    return Result(shared.result(), samples)


def mode_of(row: Json) -> str:
    return str(row["run_name"]).split("/")[3]


def test_every_number_can_be_computed_again(result: Result) -> None:
    rows = measured(result.document)
    assert len(rows) == len(result.samples)
    for row in rows:
        samples = result.samples[row["name"], row["repetition_index"]]
        assert row["real_time"] == pytest.approx(median(samples["samples_us"]))
        assert row["min_us"] == pytest.approx(min(samples["samples_us"]))
        assert row["host_us"] == pytest.approx(median(samples["host_us"]))
        # On a CPU the host does the work itself, however long that takes.
        assert row["host_us"] == pytest.approx(row["real_time"], rel=0.05)
        assert row["samples"] == len(samples["samples_us"])
        # Later than the date of this test, but not in the future.
        assert 1.7e9 < samples["started"] <= time.time()
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
