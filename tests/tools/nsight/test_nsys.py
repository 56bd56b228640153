# SPDX-License-Identifier: MIT
"""tools/nsys with stand-ins for Nsight Systems and for the program."""

import json
import re
import sys
from pathlib import Path

import pytest

from advised import part, whole
from reports.results.refused import Refused
from results import document, entry
from stub_checkout import result_program, write_script
from tools.nsight.cases import REPORTS, divided, folder
from tools.nsight.main import FAILED, GOOD, main

STEPS = [
    f"model_size/{model}/fp32/{mode}/batch:4/seq:128"
    for model in ("tiny", "2.7B")
    for mode in ("forward", "train_step")
]
DIVIDED = [part("forward", "ffn", 5), part("forward", "all", 5), whole(5)]
PARTS = [row["name"] for row in DIVIDED]
LIST = "--benchmark_list_tests"
# Behaves as in NVIDIA's manual: profile runs the program, stats prints CSV.
NSYS = """#!{python}
import os, subprocess, sys
with open({log!r}, "a") as log:
    print("nsys", *sys.argv[1:], file=log)
if sys.argv[1] == "profile":
    flags = [a for a in sys.argv[2:] if a.startswith("--")]
    program = next(i for i, a in enumerate(sys.argv) if i > 1 and a[0] != "-")
    output = next(a[len("--output="):] for a in flags if a.startswith("--output="))
    if {broken!r} and {broken!r} in output:
        sys.exit(7)
    open(output + ".nsys-rep", "w").close()
    print("Generated:", output)
    sys.exit(subprocess.run(sys.argv[program:]).returncode)
assert os.path.exists(sys.argv[-1]), sys.argv[-1]
report = next(a for a in sys.argv if a.startswith("--report=")).partition("=")[2]
if report == "osrt_sum":
    print("SKIPPED: it does not contain OS Runtime trace data.")
else:
    print("\\nTime (%),Total Time (ns),Instances,Name")
    print("99.0,1234,5," + report)
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [*(entry(name, 5) for name in STEPS), *DIVIDED]
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    stand_in(tmp_path)
    return result_program(tmp_path / "trainbench", document(*rows), tmp_path / "log")


def stand_in(tmp_path: Path, broken: str = "") -> None:
    log = str(tmp_path / "log")
    text = NSYS.format(python=sys.executable, log=log, broken=broken)
    write_script(tmp_path / "bin/nsys", text)


def test_each_step_has_its_summaries_and_ours_are_beside_them(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = tmp_path / "profiles"
    flags = [f"--into={into}", "--suite=paper", "--benchmark_filter=^model_size/tiny/"]
    assert main(flags, program) == GOOD
    folders = sorted(path.name for path in into.iterdir() if path.name[0] == "m")
    assert folders == sorted(folder(name) for name in STEPS[:2])
    for name in STEPS[:2]:
        step = into / folder(name)
        found = {path.name for path in step.glob("*.csv")}
        assert found == {f"{report}.csv" for report in REPORTS}
        kernels = (step / "cuda_gpu_kern_sum.csv").read_text().splitlines()
        assert kernels == [
            "Time (%),Total Time (ns),Instances,Name",
            "99.0,1234,5,cuda_gpu_kern_sum",
        ]
        assert (step / "osrt_sum.csv").read_text() == "", "nothing to sum"
        row = json.loads((step / "row.json").read_text())
        assert [row["name"] for row in row["benchmarks"]] == [name]
    ours = json.loads((into / "ours.json").read_text())
    assert [row["name"] for row in ours["benchmarks"]] == PARTS
    assert list((into / "ours.tables").glob("breakdown-*.csv"))
    printed = capsys.readouterr().out.splitlines()
    assert len([line for line in printed if line.endswith("_sum.csv")]) == 2 * 4
    assert str(into / "ours.html") in printed


def test_a_step_is_traced_alone_on_the_gpu_with_the_given_flags(
    program: Path, tmp_path: Path
) -> None:
    into = f"--into={tmp_path / 'out'}"
    main([into, "--device=cuda", "--suite=paper", "--models=tiny,2.7B"], program)
    log = (tmp_path / "log").read_text().splitlines()
    assert f"--device=cuda --benchmark_filter=^model_size/ {LIST}" in log[0]
    profiles = [line for line in log if line.startswith("nsys profile")]
    assert len(profiles) == len(STEPS)
    for line, name in zip(profiles, STEPS, strict=True):
        assert "--trace=cuda,nvtx,osrt" in line
        assert f"{program} --suite=paper --models=tiny,2.7B --device=cuda" in line
        pattern = line.partition("--benchmark_filter=")[2].split()[0]
        assert [step for step in STEPS if re.search(pattern, step)] == [name]
    assert "nsys" not in log[-1], "ours runs without it"


def test_a_step_that_fails_does_not_end_the_others(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(tmp_path, broken="train_step")
    into = tmp_path / "out"
    flags = [f"--into={into}", "--benchmark_filter=^model_size/tiny/"]
    assert main(flags, program) == FAILED
    said = capsys.readouterr()
    assert f"{STEPS[1]}: Command '['nsys', 'profile'" in said.err
    assert (into / folder(STEPS[0]) / "cuda_api_sum.csv").exists()
    assert (into / "ours.json").exists()


def test_cases_that_profile_themselves_are_refused(
    program: Path, tmp_path: Path
) -> None:
    into = f"--into={tmp_path / 'out'}"
    with pytest.raises(Refused, match=f"{PARTS[0]} is chosen; allowed: cases of mod"):
        main([into, "--benchmark_filter=^breakdown/"], program)
    with pytest.raises(Refused, match="no such case"):
        main([into, "--benchmark_filter=nothing"], program)
    assert not (tmp_path / "out").exists()


def test_steps_without_a_breakdown_are_said(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = [f"--into={tmp_path / 'out'}", "--benchmark_filter=^model_size/2.7B/"]
    assert main(flags, program) == FAILED
    assert "the suite has no breakdown of these steps" in capsys.readouterr().err


def test_the_filter_of_breakdowns_takes_all_rows_of_a_step() -> None:
    pattern = divided([STEPS[1]])
    assert [name for name in PARTS if re.search(pattern, name)] == PARTS
    assert re.search(pattern, f"{PARTS[0]}/layer:3")
    assert not re.search(pattern, f"{PARTS[0]}0")
    assert re.search(divided([STEPS[3]]), PARTS[0].replace("tiny", "2.7B"))
    assert not re.search(divided([STEPS[3]]), PARTS[0].replace("tiny", "2x7B"))
    assert not re.search(divided([STEPS[0]]), PARTS[0]), "another mode"
