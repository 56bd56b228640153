# SPDX-License-Identifier: MIT
"""tools/rehearse --mesh: the program's arguments, and the printed answer."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from golden import check_golden
from tools.rehearsal import mesh_text
from tools.rehearsal.__main__ import main

Json = dict[str, Any]
GIB = 2**30
CALLS = {"calls": 70, "bytes": 7 * GIB, "sent_bytes": 6.5625 * GIB}
GATHERS = {"group": "fsdp", "collective": "all_gather", **CALLS}
QUERY = {
    **{"model": "8B", "parameters": 8_125_698_048, "implementation": "fused"},
    **{"attention": "own", "checkpoint": "none,every_1", "precision": "bf16"},
    **{"batch": 1, "global_batch": None, "seq": 32768, "rank": "first"},
    "links": [
        {"name": "nvlink", "gb_per_s": 450.0, "us": 30.0},
        {"name": "ib", "gb_per_s": 50.0, "us": 30.0},
    ],
    "spare_bytes": GIB,
    **{"node_ranks": 8, "device_tflops": 989.0, "memory_gb_per_s": 3350.0},
}


def predicted() -> Json:
    return {
        **{"peak_bytes": 27 * GIB, "peak_at": "aten::mm in backward, lm_head"},
        **{"resident_bytes": 4 * GIB, "build_peak_bytes": 10 * GIB},
        "reserved_bytes": 28 * GIB,
        **{"needed_bytes": 28 * GIB, "largest_batch": 3, "part_parameters": 4000},
        **{"shard_elements": 1000, "collectives": [GATHERS]},
    }


def computed(**others: Any) -> Json:
    a_pass = {"compute_us": 2e5, "tensor_us": 0.0, "fsdp_us": 4e4, "data_us": 0.0}
    parts = {"compute": 4e5, "tensor": 0.0, "fsdp": 0.0, "data": 0.0, "update": 1e5}
    return {
        **{"step_us": 5e5, "tokens_per_second": 2.1e6, "model_flops_share": 0.61},
        **{"bound": "compute", "parts_us": parts, "compute_bound_batch": 1},
        **{"forward": a_pass, "backward": a_pass, "update_us": 1e5},
    } | others


def rehearsed(**others: Any) -> Json:
    return {
        **{"peak_bytes": 27.5 * GIB, "resident_bytes": 4 * GIB},
        **{"build_peak_bytes": 10 * GIB, "reserved_bytes": 29 * GIB},
        "shard_elements": 1000,
        "kernels": {"forward": 1500, "backward": 503},
        "counters": {"launches": 2003},
        "collectives": [GATHERS],
    } | others


def row(**others: Any) -> Json:
    name = {"name": "data:1,fsdp:16,tensor:1", "data": 1, "fsdp": 16, "tensor": 1}
    return {
        **{"mesh": {**name, "ranks": 16}, "batch": 1, "checkpoint": "every_1"},
        **{"fits": True, "why_not": ""},
        "predicted": predicted(),
        "computed": computed(),
        "rehearsed": rehearsed(),
    } | others


def document(*rows: Json, **query: Any) -> Json:
    return {
        **{"query": QUERY | query, "device": "H100 (null)", "free_bytes": 78 * GIB},
        **{"overlap": "all of it overlaps", "rows": list(rows or (row(),))},
    }


def test_the_text_of_each_kind_of_answer() -> None:
    full = {
        **{"phase": "backward", "operator": "aten::mm", "requested_bytes": GIB},
        **{"allocated_bytes": 77 * GIB, "reserved_bytes": 78 * GIB},
    }
    ended = {"fits": False, "why_not": "memory ends in backward"}
    ended |= {"rehearsed": {"out_of_memory": full}}
    none = dict.fromkeys(("predicted", "computed", "rehearsed"))
    too_large = row(fits=False, why_not="needs more than the 121 GiB", **none)
    none |= {"batch": None, "checkpoint": None}
    refused = row(fits=False, why_not="5 ranks share 12 heads", **none)
    never = computed(compute_bound_batch=None, bound="tensor")
    more_calls = rehearsed(collectives=[GATHERS | {"calls": 71}])
    answers = {
        "a rank that fits": document(),
        "a collective that was not predicted": document(row(rehearsed=more_calls)),
        "compute-bound at no batch": document(row(computed=never)),
        "memory ends": document(row(**ended)),
        "nothing is rehearsed": document(row(rehearsed=None)),
        "several meshes": document(row(), too_large, refused, global_batch=16),
        "several numbers of ranks": document(row(rehearsed=None), refused),
    }
    printed = {name: mesh_text.render(given) for name, given in answers.items()}
    check_golden("mesh.txt", printed)


# Answers with its flags and its environment.
PROGRAM = """#!{python}
import json, os, sys
if "--status=2" in sys.argv:
    sys.exit(2)
if "--help" in sys.argv:
    print("Usage: all flags")
    sys.exit(0)
answer = {document!r}
answer = json.loads(answer)
answer["flags"] = sys.argv[1:]
answer["gpu"] = os.environ["TRAINBENCH_NULL_GPU"]
print(json.dumps(answer))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program"
    text = json.dumps(document())
    path.write_text(PROGRAM.format(python=sys.executable, document=text))
    path.chmod(0o755)
    return path


def test_flags_go_to_the_program_of_meshes(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ("--mesh=auto", "--ranks=64", "--model=8B")
    given = ("--gpu=h200", "--json", *flags)
    assert main(given, library=program.parent, mesh_program=program) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["flags"] == list(flags)
    assert answer["gpu"] == "h200"
    assert main(given[:1] + flags, library=program.parent, mesh_program=program) == 0
    assert capsys.readouterr().out.startswith("H100 (null), 78 GiB free, 1 GiB of it")


def test_help_and_errors_are_those_of_the_program(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("--gpu=h100", "--mesh", "data:2")
    library = program.parent
    assert main((*given, "--help"), library=library, mesh_program=program) == 0
    assert capsys.readouterr().out.endswith("Usage: all flags\n")
    assert main((*given, "--status=2"), library=library, mesh_program=program) == 2
    assert capsys.readouterr().out == ""


def test_a_mesh_needs_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        main(["--mesh=data:2"])
    assert exit_info.value.code == 2
    assert "--gpu" in capsys.readouterr().err
