# SPDX-License-Identifier: MIT
"""tools/rehearse --mesh: the program's arguments, and the printed answer."""

import json
from typing import Any

import pytest

from golden import check_golden
from tools.rehearsal import mesh, mesh_text
from tools.rehearsal.mesh_flags import mesh as mesh_of
from tools.rehearsal.mesh_flags import meshes_of, read_mesh

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


PREDICTED = {
    **{"peak_bytes": 27 * GIB, "peak_at": "aten::mm in backward, lm_head"},
    **{"resident_bytes": 4 * GIB, "build_peak_bytes": 10 * GIB},
    "reserved_bytes": 28 * GIB,
    **{"needed_bytes": 28 * GIB, "largest_batch": 3, "part_parameters": 4000},
    **{"shard_elements": 1000, "collectives": [GATHERS]},
}
PASS = {"compute_us": 2e5, "tensor_us": 0.0, "fsdp_us": 4e4, "data_us": 0.0}
COMPUTED = {
    **{"step_us": 5e5, "tokens_per_second": 2.1e6, "model_flops_share": 0.61},
    **{"bound": "compute", "compute_bound_batch": 1},
    "parts_us": {"compute": 4e5, "tensor": 0.0, "update": 1e5},
    **{"forward": PASS, "backward": PASS},
}
REHEARSED = {
    **{"peak_bytes": 27.5 * GIB, "resident_bytes": 4 * GIB},
    **{"build_peak_bytes": 10 * GIB, "reserved_bytes": 29 * GIB},
    "shard_elements": 1000,
    "phases": [
        {"name": name, "counters": {"launches": launches}}
        for name, launches in (("forward", 1500), ("backward", 500), ("backward", 3))
    ],
    "collectives": [GATHERS],
}


def row(**others: Any) -> Json:
    return {
        **{"mesh": mesh_of(fsdp=16), "batch": 1, "checkpoint": "every_1"},
        **{"fits": True, "why_not": ""},
        **{"predicted": PREDICTED, "computed": COMPUTED, "rehearsed": REHEARSED},
    } | others


def document(*rows: Json, **query: Any) -> Json:
    return {
        **{"query": QUERY | query, "device": "H100 (null)", "free_bytes": 78 * GIB},
        **{"overlap": "all of it overlaps", "rows": list(rows or (row(),))},
    }


def test_a_mesh_is_what_its_name_says() -> None:
    sizes = {"data:4,fsdp:16,tensor:8": (4, 16, 8), "tensor:2": (1, 1, 2)}
    for name, each in (sizes | {"fsdp:3,data:2": (2, 3, 1)}).items():
        found = mesh_of(*each)
        assert read_mesh(name) == read_mesh(found["name"]) == found
    every = meshes_of(12)
    # 12 = 2^2 3: six ways to place the twos on three axes, three for the 3.
    assert len(every) == len({one["name"] for one in every}) == 18
    assert {one["ranks"] for one in every} == {12}


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
    never = COMPUTED | {"compute_bound_batch": None, "bound": "tensor"}
    never |= {"parts_us": {"compute": 2e5, "tensor": 2.4e5, "update": 6e4}}
    more_calls = REHEARSED | {"collectives": [GATHERS | {"calls": 71}]}
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


def answered(checkpoint: str, shard_elements: int) -> Json:
    """A row of the program: the fewer elements a rank has, the faster is its step."""
    steps: list[Json] = [
        {"batch": batch, "work": {}, "forward": [], "backward": []} for batch in (1, 2)
    ]
    sizes = {"shard_elements": shard_elements}
    flops = {"forward_flops": 1.0, "backward_flops": 2.0}
    own = {"checkpoint": checkpoint, "steps": steps, "rehearsed": None}
    found = row(**own, needed_bytes=0, predicted=PREDICTED | sizes | flops)
    del found["mesh"]
    return found


def test_the_first_mesh_that_fits_when_it_is_rehearsed_is_the_best(
    capsys: pytest.CaptureFixture[str],
) -> None:
    elements = {(2, 1): (2000, 2500), (1, 2): (1500, 1000), (1, 1): (9000, 9500)}

    def ask(request: Json) -> Json:
        assert {one["ranks"] for one in request["ranks"]} == {2}
        rows = []
        for rank in request["ranks"]:
            checkpoint, sizes = rank["checkpoint"], (rank["data"], rank["fsdp"])
            own = elements[sizes][checkpoint == "every_1"]
            rows.append(answered(checkpoint, own))
            if request["rehearse"]:
                fits = rank["data"] == 2
                rows[-1] |= {"fits": fits, "rehearsed": REHEARSED}
        model = {key: QUERY[key] for key in ("model", "parameters", "checkpoint")}
        return document() | {"model": model, "rows": rows}

    given = ["--gpu=a100-80", "--mesh=auto", "--ranks=2", "--json"]
    assert mesh.main(given, lambda gpu: ask) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [link["gb_per_s"] for link in shown["query"]["links"]] == [174, 25]
    shown = shown["rows"]
    # Each has its faster checkpointing; the faster mesh ran out of memory.
    assert [(row["mesh"]["name"], row["checkpoint"], row["fits"]) for row in shown] == [
        ("data:2,fsdp:1,tensor:1", "none", True),
        ("data:1,fsdp:1,tensor:2", "none", True),
        ("data:1,fsdp:2,tensor:1", "every_1", False),
    ]
