# SPDX-License-Identifier: MIT
"""A run in parts: --shard splits it, --resume continues it, tools/report joins it."""

from program import NANO, OUT, SAMPLES, Program, load, load_lines, measured, names
from reports.results.parts import runs
from reports.results.result_file import load as load_result

CASES = (*NANO, "--benchmark_filter=^(peak/(matmul|copy)|optimizer|precision)/")
TEAM = "--benchmark_context=team=blue"


def test_the_shards_hold_every_case_and_each_has_the_peaks(trainbench: Program) -> None:
    files = []
    for part in ("1/2", "2/2"):
        file = f"{part[0]}.json"
        outputs = (f"--benchmark_out={file}", f"--samples_out={file}l")
        trainbench.run(*CASES, f"--shard={part}", *outputs)
        document = load(trainbench.directory / file)
        assert document["context"]["shard"] == part
        assert any(name.startswith("peak/") for name in names(measured(document)))
        files.append(trainbench.directory / file)
    whole = trainbench.measure(*CASES)
    (joined,) = runs({path: load_result(path) for path in files}).values()
    assert sorted(joined.names) == sorted(names(measured(whole)))
    assert joined.complete
    shares = {row.name for row in joined.rows if row.get("mfu_measured")}
    assert any(name.startswith("precision/") for name in shares)
    assert all(
        row.get("speedup")
        for row in joined.rows
        if row.name.startswith("precision/nano/bf16")
    )


def test_a_run_continues_with_what_is_missing(trainbench: Program) -> None:
    peaks = "--benchmark_filter=^(peak/(matmul|copy)|optimizer)/"
    old = trainbench.measure(*NANO, peaks, SAMPLES, TEAM)
    done = trainbench.run(*CASES, OUT, SAMPLES, TEAM, "--resume=a.json")
    kept = len(names(measured(old)))
    assert f"keeping {kept} cases of a.json, running 2" in done.stderr
    assert "peak/" not in done.stdout and "precision/" in done.stdout
    new = trainbench.result()
    assert new["complete"] is True
    assert new["benchmarks"][:kept] == old["benchmarks"], "bit by bit"
    rows = measured(new)[kept:]
    assert len(rows) == 2 and all(n.startswith("precision/") for n in names(rows))
    fp32 = next(row for row in rows if "/fp32/" in row["name"])
    assert "mfu_measured" in fp32, "of a peak that was kept"
    assert sorted(names(trainbench.samples())) == sorted(names(measured(new)))
    # Writes to other files: they contain the samples of kept rows, too.
    other = ("--benchmark_out=b.json", "--samples_out=b.jsonl", "--resume=a.json")
    trainbench.run(*CASES, TEAM, *other)
    moved = load_lines(trainbench.directory / "b.jsonl")
    assert names(moved) == names(trainbench.samples())
    # What is refused leaves the file as it is.
    for flags, why in (
        ((OUT, SAMPLES), "team ('blue' there, '' here)"),
        ((OUT, "--benchmark_context=threads=9"), "keys other than threads"),
        ((SAMPLES,), "--benchmark_out is ''"),
    ):
        refused = trainbench.run(*CASES, *flags, "--resume=a.json", code=2)
        assert why in refused.stderr
        assert trainbench.result() == new
    # Nothing is left to do, and the file is still complete.
    again = trainbench.measure(*CASES, SAMPLES, TEAM, "--resume=a.json")
    assert again["benchmarks"] == new["benchmarks"]
    assert len(trainbench.samples()) == len(measured(new))
