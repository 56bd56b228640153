# SPDX-License-Identifier: MIT
"""tools/rehearse --mesh: what it starts, and what it prints of the answer."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

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


def lines(given: Json) -> list[list[str]]:
    return [line.split() for line in mesh_text.render(given).splitlines()]


def test_what_is_rehearsed_stands_beside_what_is_predicted() -> None:
    found = lines(document())
    peak = "tensors, peak 27 GiB 27.5 GiB aten::mm in backward, lm_head".split()
    assert peak in found
    assert "reserved 28 GiB 29 GiB with libraries".split() in found
    assert "parameters 1,000 1,000 of 4,000 in its part".split() in found
    gathers = "fsdp all_gather 70 7 GiB 6.562 GiB as predicted".split()
    assert gathers in found
    kernels = "kernels of a step: 2,003 (forward 1,500, backward 503)"
    assert kernels.split() in found


def test_a_collective_that_was_not_predicted_is_marked() -> None:
    other = rehearsed(collectives=[GATHERS | {"calls": 71}])
    found = lines(document(row(rehearsed=other)))
    assert "fsdp all_gather 71 7 GiB 6.562 GiB not predicted".split() in found


def test_the_time_is_marked_as_computed_with_its_assumptions() -> None:
    text = mesh_text.render(document())
    assert "step 500 ms at least, bound by compute (compute 80 %, update 20 %)" in text
    assert "compute-bound from a batch of 1, 32,768 tokens; memory holds" in text
    words = " ".join(text.split())
    assert "Computed, not measured: all of it overlaps." in words
    assert "30 us and 450 GB/s (nvlink) inside a node of 8" in words


def test_no_batch_may_be_compute_bound() -> None:
    never = row(computed=computed(compute_bound_batch=None, bound="tensor"))
    text = mesh_text.render(document(never))
    assert "compute-bound at no batch; memory holds a batch of 3" in text
    assert "bound by the tensor group's communication" in text


def test_without_a_rehearsal_only_predictions_are_shown() -> None:
    text = mesh_text.render(document(row(rehearsed=None)))
    assert "Rehearsed is exact" not in text and "kernels of a step" not in text
    assert "6.562 GiB  predicted" in text


def test_where_memory_ends_is_said() -> None:
    full = {
        **{"phase": "backward", "operator": "aten::mm", "requested_bytes": GIB},
        **{"allocated_bytes": 77 * GIB, "reserved_bytes": 78 * GIB},
    }
    ended = row(fits=False, why_not="memory ends in backward")
    text = mesh_text.render(document(ended | {"rehearsed": {"out_of_memory": full}}))
    assert "16 ranks, checkpoint every_1: memory ends in backward" in text
    assert "backward: aten::mm asks for 1 GiB, 77 GiB are taken" in text


def test_meshes_are_listed_with_why_they_do_not_fit() -> None:
    none = dict.fromkeys(("predicted", "computed", "rehearsed"))
    too_large = row(fits=False, why_not="needs more than the 121 GiB", **none)
    none |= {"batch": None, "checkpoint": None}
    refused = row(fits=False, why_not="5 ranks share 12 heads", **none)
    text = mesh_text.render(document(row(), too_large, refused, global_batch=16))
    listed = [line for line in text.splitlines() if line.startswith("16: ")]
    assert listed[0].split()[2:6] == ["1", "every_1", "28", "GiB"]
    assert listed[0].endswith("compute     1        3  fits")
    assert listed[1].endswith("needs more than the 121 GiB")
    assert listed[2].endswith("5 ranks share 12 heads")
    assert "16 sequences of 32,768 tokens on all ranks together" in text
    assert (
        "the first rank of data:1,fsdp:16,tensor:1, 16 ranks, checkpoint every_1: fits"
        in text
    )
    # Of several numbers of ranks nothing is rehearsed.
    many = mesh_text.render(document(row(rehearsed=None), refused))
    assert "the first rank" not in many


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
