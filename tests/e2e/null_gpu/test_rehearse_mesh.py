# SPDX-License-Identifier: MIT
"""tools/rehearse --mesh with the built program and the null GPU."""

import json
from typing import Any

import pytest

import plan_program
from built import built
from golden import check_golden, refusals
from null_gpu import library
from plan_program import program
from tools.rehearsal import mesh
from tools.rehearsal.main import main
from tools.rehearsal.mesh_flags import AXES, checkpoints, parse, request

Json = dict[str, Any]
NANO = "name=nano,d_model=64,d_ff=128,layers=1,heads=2"
SIZES = ("--model=tiny", "--seq=256", "--batch=2")


def answer(*flags: str) -> Json:
    done = plan_program.run("--json", *flags, command=mesh.main, ask=program)
    assert done.returncode == 0, done.stderr
    document: Json = json.loads(done.stdout)
    return document


def rehearse(*flags: str) -> Json:
    return answer("--gpu=h100", *SIZES, *flags)


def predict(*flags: str, gpu: str = "h100") -> Json:
    """Returns the answer without a rehearsal."""
    return answer(f"--gpu={gpu}", "--predict_only", *flags)


def asked(*flags: str) -> Json:
    """Returns the first row of the program."""
    given, meshes = parse(("--gpu=h100", "--model=tiny", "--batch=2", *flags))
    ranks = [meshes[0] | {"checkpoint": checkpoints(given)[0]}]
    found: Json = program("h100")(request(given) | {"ranks": ranks})["rows"][0]
    return found


def calls(side: Json) -> dict[tuple[str, str], Json]:
    return {(one["group"], one["collective"]): one for one in side["collectives"]}


@pytest.mark.parametrize(
    "flags",
    [
        ("--mesh=data:2,fsdp:2,tensor:2", "--checkpoint=every_1"),
        ("--mesh=data:2,fsdp:2,tensor:2", "--rank=last", "--precision=fp32"),
        ("--mesh=data:64,fsdp:8,tensor:4", "--checkpoint=none"),
        ("--mesh=fsdp:3", "--prefetch=false", "--reshard=false"),
        ("--mesh=data:5", "--precision=bf16_autocast"),
        ("--mesh=tensor:4,fsdp:2", "--implementation=textbook"),
    ],
)
def test_what_is_rehearsed_is_what_was_predicted(
    flags: tuple[str, ...],
) -> None:
    (row,) = rehearse(*flags)["rows"]
    predicted, found = row["predicted"], row["rehearsed"]
    assert row["fits"] and row["why_not"] == ""
    assert found["collectives"] == predicted["collectives"]
    assert found["shard_elements"] == predicted["shard_elements"]
    # The allocator rounds up to blocks of 512 bytes.
    for moment in ("peak", "resident", "build_peak"):
        bytes_of = f"{moment}_bytes"
        assert found[bytes_of] >= predicted[bytes_of]
        assert found[bytes_of] == pytest.approx(predicted[bytes_of], rel=0.01)
    assert found["reserved_bytes"] > found["peak_bytes"] > found["resident_bytes"]
    assert sum(phase["counters"]["launches"] for phase in found["phases"]) > 0
    for phase in found["phases"]:
        launches = sum(kernel["launches"] for kernel in phase["kernels"])
        assert launches == phase["counters"]["launches"]
    # Only axes with several ranks communicate; a ring sends a part of the buffer.
    sizes = {axis: row["mesh"][axis] for axis in AXES}
    assert {group for group, _ in calls(found)} == {
        axis for axis, size in sizes.items() if size > 1
    }
    for (group, collective), one in calls(found).items():
        share = (sizes[group] - 1) / sizes[group]
        rounds = 2 if collective == "all_reduce" else 1
        assert one["sent_bytes"] == pytest.approx(rounds * share * one["bytes"])
        assert one["calls"] > 0


def test_the_keys_of_the_document() -> None:
    document = rehearse("--mesh=data:2,fsdp:2,tensor:2")
    assert set(document) == {"query", "device", "free_bytes", "overlap", "rows"}
    (row,) = document["rows"]
    assert set(row) == {
        *("mesh", "batch", "checkpoint", "fits", "why_not"),
        *("predicted", "computed", "rehearsed"),
    }
    assert row["mesh"] == {
        "name": "data:2,fsdp:2,tensor:2",
        **dict.fromkeys(AXES, 2),
        "ranks": 8,
    }


def test_the_8b_step_on_256_gpus() -> None:
    flags = ("--gpu=h100", "--mesh=data:4,fsdp:16,tensor:4", "--model=8B")
    document = answer(*flags)
    (row,) = document["rows"]
    predicted, found = row["predicted"], row["rehearsed"]
    assert document["query"]["parameters"] == 8_125_698_048
    assert found["peak_bytes"] == pytest.approx(predicted["peak_bytes"], rel=1e-3)
    assert found["collectives"] == predicted["collectives"]
    # 34 blocks, the embedding and the head; blocks are gathered twice.
    assert calls(found)["fsdp", "all_gather"]["calls"] == 2 * 36 - 2
    # One sum per sublayer in each pass, and four more around them.
    assert calls(found)["tensor", "all_reduce"]["calls"] == 34 * 2 * 2 + 4
    assert row["computed"]["bound"] == "compute"


def test_components_have_the_work_of_the_closed_forms() -> None:
    """Both exclude the masked scores that the variant skips."""
    flops: dict[str, float] = {}
    work: dict[str, list[float]] = {}
    for attention in ("own", "naive", "tiled"):
        flags = ("--seq=1024", "--checkpoint=none", f"--attention={attention}")
        row = asked("--mesh=tensor:2", *flags)
        flops[attention] = row["predicted"]["forward_flops"]
        parts = (step["work"]["forward"] for step in row["steps"])
        work[attention] = [sum(part["flops"] for part in own) for own in parts]
    for attention in ("own", "naive"):
        assert work[attention] == [flops[attention], flops[attention] * 3 / 2]
    # There are four tiles of keys, and the mask hides half of one.
    masked = flops["naive"] - flops["own"]
    assert work["tiled"][0] == flops["tiled"] + masked / 4


def test_the_backward_pass_repeats_blocks_and_neither_embedding_nor_head() -> None:
    row = asked("--mesh=data:2,fsdp:2", "--seq=256", "--checkpoint=every_1")
    step, flops = row["steps"][0], row["predicted"]
    forward, backward = (
        {group: one["calls"] for (group, _), one in calls({"collectives": own}).items()}
        for own in (step["forward"], step["backward"][:2])
    )
    assert forward == {"fsdp": 4 + 2} and backward == {"data": 4 + 2, "fsdp": 4}
    head = 2 * (2 * 256) * 128 * 10_000
    assert flops["forward_flops"] - flops["recomputed_flops"] == head
    assert flops["backward_flops"] == 2 * flops["forward_flops"]


def test_the_last_rank_has_the_smallest_part() -> None:
    odd = "--model=name=odd,d_model=64,d_ff=7,layers=1,heads=2,vocab=9"
    flags = (odd, "--seq=64", "--mesh=tensor:2")
    (first,) = predict(*flags)["rows"]
    (last,) = answer("--gpu=h100", *flags, "--rank=last")["rows"]
    elements = last["rehearsed"]["shard_elements"]
    assert last["predicted"]["shard_elements"] == elements
    # A word in the embedding and in the head, and a channel of three matrices.
    assert first["predicted"]["shard_elements"] == elements + (2 + 3) * 64


def test_what_must_be_recomputed_is() -> None:
    flags = ("--mesh=fsdp:8,tensor:2", "--model=8B")
    (row,) = answer("--gpu=h100", *flags)["rows"]
    # Without recomputation it would be faster, but would not fit.
    assert row["fits"] and row["checkpoint"] == "every_1"
    assert row["predicted"]["recomputed_flops"] > 0
    assert calls(row["rehearsed"])["tensor", "all_reduce"]["calls"] == 34 * 2 * 3 + 4
    for other in ("--spare_gib=60", "--checkpoint=none"):
        (row,) = predict(*flags, other)["rows"]
        assert not row["fits"]
    (row,) = predict(*flags, "--spare_gib=100")["rows"]
    assert " of 0 B: " in row["why_not"]


def test_auto_lists_all_meshes_and_rehearses_the_best() -> None:
    rows = rehearse("--mesh=auto", "--ranks=8")["rows"]
    assert len({row["mesh"]["name"] for row in rows}) == len(rows) == 10
    assert [row["rehearsed"] is not None for row in rows] == [True] + [False] * 9
    rates = [row["computed"]["tokens_per_second"] for row in rows if row["fits"]]
    assert rates == sorted(rates, reverse=True)
    (refused,) = [row for row in rows if not row["fits"]]
    assert refused["mesh"]["tensor"] == 8
    assert "8 ranks share the 4 heads of tiny" in refused["why_not"]
    assert refused["predicted"] is None and rows[-1] == refused


def test_ranks_that_share_a_dry_run_are_predicted_as_alone() -> None:
    flags = (*SIZES, "--checkpoint=none,every_1")
    rows = predict("--mesh=auto", "--ranks=4", *flags)["rows"]
    for row in (row for row in rows if row["fits"]):
        (alone,) = predict(f"--mesh={row['mesh']['name']}", *flags)["rows"]
        # Other ranks may have differently padded units.
        for key in ("peak_bytes", "resident_bytes", "build_peak_bytes"):
            shared = row["predicted"].pop(key)
            assert shared == pytest.approx(alone["predicted"].pop(key), abs=4096)
        for key in ("needed_bytes", "reserved_bytes"):
            row["predicted"].pop(key)
            alone["predicted"].pop(key)
        assert row == alone


def test_a_mesh_whose_shards_alone_are_too_large_is_not_tried() -> None:
    flags = ("--mesh=auto", "--ranks=2", "--model=8B")
    for row in predict(*flags, gpu="a100-40")["rows"]:
        assert row["predicted"] is row["computed"] is row["rehearsed"] is None
        assert row["batch"] == 1 and "for its shards and AdamW" in row["why_not"]


def test_of_several_numbers_of_ranks_the_best_of_each_is_listed() -> None:
    flags = ("--mesh=auto", "--ranks=1,4,2", "--global_batch=2")
    rows = rehearse(*flags)["rows"]
    assert [row["mesh"]["ranks"] for row in rows] == [1, 4, 2]
    assert all(row["rehearsed"] is None for row in rows)
    # The batch of 2 has a sequence for each of two ranks, but not for four.
    assert all(
        row["batch"] * row["mesh"]["data"] * row["mesh"]["fsdp"] == 2 for row in rows
    )


def test_a_mesh_that_does_not_fit_is_tried_and_says_where_it_ends() -> None:
    flags = ("--model=8B", "--mesh=data:2")
    (row,) = answer("--gpu=a100-40", *flags)["rows"]
    assert not row["fits"] and row["why_not"] == "memory ends in build"
    assert row["rehearsed"]["out_of_memory"]["operator"].startswith("aten::")
    (only,) = predict(*flags, gpu="a100-40")["rows"]
    assert only["rehearsed"] is None
    why = only["why_not"]
    assert why.startswith("needs 156 GiB of ")
    at = f" more at {only['predicted']['peak_at']}, unused blocks and cuBLAS 4.60 GiB"
    assert f"{at}; largest tensors: " in why


def test_a_mesh_must_also_fit_while_it_is_built() -> None:
    wide = "d_model=8192,d_ff=32768,layers=6,heads=64,vocab=2,implementation=fused"
    flags = ("--gpu=a100-40", f"--model=name=wide,{wide}", "--mesh=fsdp:64")
    (row,) = answer(*flags, "--seq=64", "--spare_gib=20")["rows"]
    assert row["rehearsed"]["reserved_bytes"] < 18 * 2**30
    assert not row["fits"]
    assert row["why_not"].startswith("takes 30.1 GiB of 18.4 GiB: the build")


def test_it_agrees_with_the_plan_of_parallel_training() -> None:
    # Links without a cost per call.
    links = "--links=a:50:0.000001,b:50:0.000001"
    (row,) = predict(*SIZES, "--mesh=data:8", links)["rows"]
    (calls_of_data,) = row["predicted"]["collectives"]
    gradient_gb = calls_of_data["bytes"] / 1e9
    planned = plan_program.plan_json(
        *("--parallel", "--ranks=8", "--link_gb_per_s=50"),
        *(f"--gradient_gb={gradient_gb:.12f}", "--links=a:50:1"),
    )
    values = {f"{r['group']}.{r['name']}": r["value"] for r in planned["rows"]}
    sent = calls_of_data["sent_bytes"]
    assert sent == pytest.approx(values["all_reduce.ring_bytes"], rel=1e-6)
    seconds = row["computed"]["backward"]["data_us"] / 1e6
    assert seconds == pytest.approx(values["all_reduce.ring_seconds"], rel=1e-4)
    # 16 bytes of state per parameter.
    state = 16 * row["predicted"]["part_parameters"]
    assert row["predicted"]["resident_bytes"] == pytest.approx(state, rel=1e-2)
    query = {row["name"]: row["value"] for row in planned["rows"]}
    assert query["state_bytes"] == 16 * query["params"]


def test_from_which_batch_gathers_are_hidden_agrees_with_the_plan() -> None:
    # The model is almost only feed-forward layers, so a single layer's bound is also
    # the step's. Forward, bf16: B > X C / W tokens in the whole batch.
    model = (
        "--model=name=wide,d_model=1024,d_ff=65536,layers=4,heads=8,vocab=2,"
        "implementation=fused"
    )
    machine = ("--device_tflops=200", "--memory_gb_per_s=1e9")
    links = "--links=a:50:0.000001,b:50:0.000001"
    job = ("--mesh=fsdp:8", model, "--batch=1", "--seq=1000", "--checkpoint=none")
    (row,) = predict(*job, links, *machine)["rows"]
    forward = row["computed"]["forward"]
    tokens = 8 * 1000 * forward["fsdp_us"] / forward["compute_us"]
    planned = plan_program.plan_json(
        *("--parallel", "--fsdp_ranks=8", "--tensor_ranks=1"),
        *("--fsdp_axes=1", "--device_tflops=200", "--link_gb_per_s=50"),
        *("--d_model=1024", "--d_ff=65536", f"--tokens={round(tokens)}"),
    )
    values = {f"{r['group']}.{r['name']}": r["value"] for r in planned["rows"]}
    # With that many tokens, up to 8 ranks compute for as long as they gather.
    assert values["bounds.fsdp_forward_devices"] == pytest.approx(8, rel=0.02)


def test_a_rehearsal_leaves_nothing_to_the_next(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = ("--mesh=fsdp:2", "--checkpoint=every_1")
    found = rehearse(*flags)
    assert found["rows"] != rehearse("--mesh=fsdp:2", "--checkpoint=none")["rows"]
    assert found == rehearse(*flags)
    given = ("--gpu=h100", "--json", *SIZES, *flags)
    own = built("TRAINBENCH_PLAN")
    assert main(given, library=library(), mesh_program=own) == 0
    assert found == json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("flags", "implementation", "attention"),
    [
        ((f"--model={NANO}",), "textbook", "naive"),
        ((f"--model={NANO},implementation=fused",), "fused", "own"),
        ((f"--model={NANO}", "--implementation=fused"), "fused", "own"),
        (("--model=tiny",), "fused", "own"),
    ],
)
def test_the_implementation_is_of_the_definition_or_of_the_flag(
    flags: tuple[str, ...], implementation: str, attention: str
) -> None:
    query = predict("--mesh=data:1", "--seq=256", *flags)["query"]
    assert (query["implementation"], query["attention"]) == (implementation, attention)


WRONG = """
    --mesh=pipe:2; --mesh=data:0; --mesh=data:-1; --mesh=data:1048577; --mesh=;
    --mesh=data:; --mesh=data:two; --mesh=fsdp:2,fsdp:2; --mesh=tensor:3; --mesh=auto;
    --mesh=data:1048576,fsdp:1048576,tensor:1048576; --mesh=data:2,fsdp:2 --ranks=8;
    --mesh=auto --ranks=8,x; --mesh=data:2 --global_batch=3; --mesh=data:2 --rank=2;
    --mesh=data:2 --precision=fp8; --mesh=data:2 --checkpoint=all;
    --mesh=data:2 --attention=best; --mesh=data:2 --nonsense=1;
    --mesh=data:2 --implementation=x; --mesh=data:2 --implementation=fused
    --model=name=a,d_model=64,implementation=fused;
    --mesh=data:2 --model=name=a,d_model=64,d_ff=64,heads=1,layers=1025;
    --mesh=data:2 --model=name=a,d_model=1048576,d_ff=1048576,heads=1,layers=128"""


def test_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    def run(flags: list[str]) -> int:
        return mesh.main(["--gpu=h100", *flags], program)

    said = refusals(run, WRONG, capsys, "tools/rehearse")
    check_golden("errors/mesh.txt", said)
