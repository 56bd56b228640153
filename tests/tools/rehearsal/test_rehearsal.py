# SPDX-License-Identifier: MIT
"""tools/rehearse: reading the program's result, and the printed output."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from golden import check_golden, refusals
from reports.results.rows import Result
from results import FILL, PRODUCT, entry, failure, parsed
from results import document as result_of
from stub_checkout import result_program, write_script
from tools.planner.timing.rates import devices
from tools.rehearsal import text
from tools.rehearsal.main import main, rates_of
from tools.rehearsal.records import Json, document
from tools.rehearsal.run import GPUS, environment, flags, parse

KERNELS = [
    {"name": FILL, "family": "other", "launches": 7},
    {"name": PRODUCT, "family": "fp32", "launches": 3},
]
STEP = "model_size/tiny/fp32/forward/batch:1/seq:8"
NULL = {"device_kind": "null_cuda", "device": "NVIDIA H100 80GB HBM3 (null)"}
GIB = 2**30


def record(name: str = STEP, **others: Any) -> Json:
    counters = {"launches": 10, "copies_h2d": 1, "copy_bytes_h2d": 2048, "waits": 2}
    return {
        "case": name,
        "free_bytes": 79 * GIB,
        "predicted_bytes": 5 * GIB,
        "tensor_bytes": 5 * GIB,
        "library_bytes": GIB,
        "reserved_bytes": 8 * GIB,
        "out_of_memory": None,
        "phases": [{"name": "forward", "counters": counters, "kernels": KERNELS}],
        "components": [
            {"name": "ffn", "flops": 2e9, "bytes": 1e3},
            {"name": "optimizer", "flops": 0, "bytes": 3e9},
            {"name": "nothing", "flops": 0, "bytes": 0},
        ],
        "flops_per_second": 1e12,
        "bytes_per_second": 1e12,
    } | others


def full(name: str, **found: Any) -> Json:
    known = {"requested_bytes": GIB, "allocated_bytes": 78 * GIB}
    ending = {"phase": "backward", "operator": "aten::mm", "reserved_bytes": 79 * GIB}
    return record(name, out_of_memory=known | ending | found, phases=[])


def read(result: Result, *records: Json) -> Json:
    found = document("h100", replace(result, rehearsals=list(records)))
    assert json.loads(json.dumps(found)) == found
    return found


@pytest.fixture
def rehearsal() -> Json:
    good = parsed(entry(STEP, 0, host_us=1500), context=NULL)
    return read(good, record())


def test_the_text_of_each_kind_of_case(rehearsal: Json) -> None:
    no_sheet = record()
    del no_sheet["flops_per_second"], no_sheet["bytes_per_second"]
    plain = parsed(entry(STEP, 0), context=NULL)
    unknown = read(plain, no_sheet)
    components = unknown["cases"][0]["components"]
    assert [component["computed_least_us"] for component in components] == [0, 0]
    skipped = [("a/1", "needs 99 GiB"), ("a/2", "needs 80 GiB"), ("a/4", "2 GPUs")]
    failed = [failure("a/3", "broken")]
    lists = {"skipped": [failure(*one) for one in skipped], "errors": failed}
    ended = read(
        parsed(context=NULL, **lists),
        full("a/1"),
        record("a/2"),
        full("a/3", phase="build", operator="", requested_bytes=0),
    )
    assert [case["name"] for case in ended["cases"]] == ["a/1", "a/2", "a/3", "a/4"]
    names = [f"b/{i}" for i in range(7)]
    other = [{"name": "call", "counters": {}, "kernels": KERNELS[:1]}]
    shared = read(
        parsed(*(entry(name, 0) for name in names), context=NULL),
        *(record(name) for name in names[:6]),
        record(names[6], phases=other),
    )
    printed = {
        "with kernels": text.render(rehearsal, 5),
        "without a data sheet": text.render(unknown, 0),
        "where memory ends": text.render(ended, 0),
        "a phase that many cases share": text.render(shared, 0),
    }
    check_golden("rehearsal.txt", printed)


def test_a_program_finds_null_gpus_alone() -> None:
    given = {"LD_PRELOAD": "a.so", "CUDA_VISIBLE_DEVICES": "", "HOME": "/h"}
    assert environment(Path("/a null"), "a100-40", 4, given) == {
        "HOME": "/h",
        "LD_PRELOAD": "libnullcuda.so:a.so",
        "LD_LIBRARY_PATH": "/a null",
        "TRAINBENCH_NULL_GPU": "a100-40",
        "TRAINBENCH_NULL_GPU_COUNT": "4",
    }


@pytest.mark.parametrize("gpu", GPUS)
def test_the_null_gpu_gets_all_rates(gpu: str) -> None:
    rates = json.loads(json.dumps(rates_of(devices()[gpu])))
    products = rates.pop("products")
    assert len(rates) == 11 and min(rates.values()) > 0
    assert len(products) > 100 and all(0 < share <= 1 for *_, share in products)


def test_predicted_times_have_a_result_of_their_own() -> None:
    flags = ["--gpu=h100", "--times=predicted"]
    out = "--benchmark_out=o.json"
    for named in ([out], out.split("=")):
        assert parse([*flags, *named]).names == ["benchmark_out"]


def test_other_flags_are_the_programs() -> None:
    given = ["--suite=paper", "--benchmark_filter=^a", "--ranks=2", "--warmup=3"]
    passed = flags(parse(["--gpu=h200", *given]), "--rehearsal")
    ours = ["--benchmark_min_time=0", "--device=cuda", "--value_checks=skip"]
    ours += ["--rehearsal"]
    assert sorted(passed) == sorted(given + ours), "none twice, such as --warmup"
    unasked = flags(parse(["--gpu=h200"]))
    assert "--warmup=0" in unasked
    # The program's error about "--" names what follows it.
    assert flags(parse(["--gpu=h200", "--", "--a"]), "--own")[-2:] == ["--", "--a"]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    result = result_of(entry(STEP, 0, host_us=1500), context=NULL)
    result["rehearsals"] = [record()]
    return result_program(tmp_path / "program", result, tmp_path / "log")


def test_the_command_prints_what_the_program_wrote(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--gpu=h100"], program, program.parent) == 0
    assert STEP in capsys.readouterr().out
    assert main(["--gpu=h100", "--json", "--status=1"], program, program.parent) == 1
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert case["name"] == STEP


def test_predictions_in_one_second_do_not_share_a_result(
    program: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    for _ in range(2):
        given = ["--gpu=h100", "--times=predicted"]
        assert main(given, program, program.parent, results=results) == 0
    assert len(list(results.glob("*-h100-predicted.json"))) == 2


def test_a_program_without_a_result_is_an_error(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--gpu=h100", "--nonsense"], program, program.parent) == 2
    assert main(["--gpu=h100", "--silent"], program, program.parent) == 1
    found = capsys.readouterr()
    assert found.out == ""
    assert "left no result" in found.err


def test_a_list_is_printed_as_the_program_prints_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program"
    write_script(program, "#!/bin/sh\necho list; exit 3\n")
    assert main(["--gpu=h100", "--list"], program, tmp_path) == 3
    assert capfd.readouterr().out == "list\n"


def test_help_names_the_other_mode(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        parse(["--help"])
    assert "  --mesh MESH " in capsys.readouterr().out


WRONG = """
    --suite=smoke; --gpu=h100 --device=cpu;
    --gpu=h100 --benchmark_out a; --gpu=h100 --ranks=0; --gpu=h100 --gpu=h200;
    --gpu=h100 --times=predicted --json; --gpu=h100 --times=predicted --rehearsal=r;
    --gpu=h100 --times=predicted --ranks=9; --gpu=h100 --benchmark_out=o.json;
    --gpu=h100 -mesh=auto; --mesh=data:2; --mesh=data:2 --gpu=h100 --links=;
    --mesh=data:2 --gpu=h100 --links=a:1:1;
    --mesh=data:2 --gpu=h100 --links=a:0:1,b:1:1;
    --mesh=data:2 --gpu=h100 --device_tflops=-1"""


def test_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    check_golden("errors/rehearsal.txt", refusals(main, WRONG, capsys))
