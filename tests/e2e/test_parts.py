# SPDX-License-Identifier: MIT
"""A run in parts: --shard splits it, --resume continues it, tools/report joins it."""

from program import NANO, Program, load, load_lines, measured, names, without
from reports.results.parts import runs
from reports.results.rows import load as load_result

FAST = (
    "--benchmark_filter=^(peak/(matmul|copy)|optimizer|precision)/",
    "--benchmark_out=a.json",
    "--samples_out=a.jsonl",
)


def sampled(program: Program, file: str = "a.jsonl") -> list[str]:
    return names(load_lines(program.directory / file))


def test_the_shards_hold_every_case_and_each_has_the_peaks(trainbench: Program) -> None:
    files = []
    for part in ("1/2", "2/2"):
        file = f"{part[0]}.json"
        flags = (*NANO, *without(FAST, "--benchmark_out", "--samples_out"))
        done = trainbench.run(*flags, f"--shard={part}", f"--benchmark_out={file}")
        assert done.code == 0, done.err
        document = load(trainbench.directory / file)
        assert document["context"]["shard"] == part
        assert any(name.startswith("peak/") for name in names(measured(document)))
        files.append(trainbench.directory / file)
    assert trainbench.run(*NANO, *FAST).code == 0
    whole = load(trainbench.directory / "a.json")
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
    only = without(FAST, "--benchmark_filter")
    peaks = "--benchmark_filter=^(peak/(matmul|copy)|optimizer)/"
    first = trainbench.run(*NANO, peaks, *only)
    assert first.code == 0, first.err
    old = load(trainbench.directory / "a.json")
    done = trainbench.run(*NANO, *FAST, "--resume=a.json")
    assert done.code == 0, done.err
    kept = len(names(measured(old)))
    assert f"keeping {kept} cases of a.json, running 2" in done.err
    assert "peak/" not in done.out and "precision/" in done.out
    new = load(trainbench.directory / "a.json")
    assert new["complete"] is True
    assert new["benchmarks"][:kept] == old["benchmarks"], "bit by bit"
    rows = measured(new)[kept:]
    assert len(rows) == 2 and all(n.startswith("precision/") for n in names(rows))
    fp32 = next(row for row in rows if "/fp32/" in row["name"])
    assert "mfu_measured" in fp32, "of a peak that was kept"
    assert sorted(sampled(trainbench)) == sorted(names(measured(new)))
    # Writes to other files: they contain the samples of kept rows, too.
    other = ("--benchmark_out=b.json", "--samples_out=b.jsonl", "--resume=a.json")
    moved = trainbench.run(*NANO, *FAST[:1], *other)
    assert moved.code == 0, moved.err
    assert sampled(trainbench, "b.jsonl") == sampled(trainbench)
    # What is refused leaves the file as it is.
    for flags, why in (
        ((*NANO, *FAST, "--seed=7"), "seed ('42' there, '7' here)"),
        (without((*NANO, *FAST), "--benchmark_out"), "--benchmark_out is ''"),
    ):
        refused = trainbench.run(*flags, "--resume=a.json")
        assert refused.code == 2 and why in refused.err
        assert load(trainbench.directory / "a.json") == new
    # Nothing is left to do, and the file is still complete.
    again = trainbench.run(*NANO, *FAST, "--resume=a.json")
    assert again.code == 0, again.err
    assert load(trainbench.directory / "a.json")["benchmarks"] == new["benchmarks"]
    assert len(sampled(trainbench)) == len(measured(new))
