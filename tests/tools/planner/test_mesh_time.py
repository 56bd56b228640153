# SPDX-License-Identifier: MIT
"""tools/planner/timing/mesh.py: the least time of a step on a mesh."""

from dataclasses import replace
from typing import Any

import pytest

from tools.planner.arguments import Link
from tools.planner.timing.mesh import (
    Machine,
    compute_bound_batch,
    computed,
    parts_us,
    time_of,
)
from tools.rehearsal.mesh_flags import mesh

Json = dict[str, Any]
# Only links take time: 1 us per call, and 100 or 10 bytes per us.
MACHINE = Machine(8, Link("inside", 0.1, 1), Link("between", 0.01, 3), 1e15, 1e30)


def calls(group: str, number: int, sent_bytes: float) -> Json:
    return {"group": group, "calls": number, "sent_bytes": sent_bytes}


def row(on: Json, *collectives: Json, flops: float = 0, grow: bool = False) -> Json:
    """A backward pass with twice the FLOPs of the forward pass, and collectives in
    both, with bytes that `grow` with the batch."""

    def step(batch: int) -> Json:
        more = batch if grow else 1
        sent = [one | {"sent_bytes": more * one["sent_bytes"]} for one in collectives]
        work = {
            name: [{"flops": batch * passes * flops, "bytes": 0}]
            for name, passes in (("forward", 1), ("backward", 2))
        }
        return {"batch": batch, "work": work, "forward": sent, "backward": sent}

    return {
        **{"mesh": on, "batch": 1, "steps": [step(1), step(2)]},
        "predicted": {"shard_elements": 0, "forward_flops": 1, "backward_flops": 2},
    }


def test_groups_of_one_node_stay_inside() -> None:
    for ranks, apart in ((4, 1), (2, 4)):
        assert MACHINE.ring(ranks, apart, 32) == pytest.approx((1, 1e-2))
    # Each rank is alone in its node.
    assert MACHINE.ring(4, 8, 32) == pytest.approx((3, 1e-1))
    # The second of two groups lies across two nodes.
    assert MACHINE.ring(6, 1, 12)[0] == 3
    for on, group, us in (
        (mesh(1, 6, 1), "fsdp", 1 + 1),
        (mesh(4, 2, 4), "fsdp", 1 + 1),
        (mesh(4, 2, 4), "data", 3 + 10),
        (mesh(1, 16, 2), "fsdp", 3 + 10 / 4),
    ):
        found = time_of(row(on, calls(group, 1, 100)), 1, True, MACHINE)
        assert found["forward"][f"{group}_us"] == pytest.approx(us)


def test_a_ring_crosses_on_as_many_links_as_it_has_ranks_in_a_node() -> None:
    assert MACHINE.ring(16, 2, 32)[1] == pytest.approx(1e-1 / 4)
    assert MACHINE.ring(16, 4, 64)[1] == pytest.approx(1e-1 / 2)
    wide = replace(MACHINE, between=Link("no faster than inside", 0.05, 3))
    assert wide.ring(64, 1, 64)[1] == pytest.approx(1e-2)


def test_a_pass_takes_the_longer_of_what_overlaps() -> None:
    forward = {"compute": 10.0, "tensor": 4.0, "fsdp": 13.0, "data": 0.0}
    backward = {"compute": 20.0, "tensor": 8.0, "fsdp": 17.0, "data": 12.0}
    both = [forward, backward]
    overlapping = {"compute": 10, "tensor": 4, "fsdp": 17, "data": 12, "update": 1}
    assert parts_us(both, 1, overlaps=True) == overlapping
    serial = {"compute": 30, "tensor": 12, "fsdp": 30, "data": 12, "update": 1}
    assert parts_us(both, 1, overlaps=False) == serial


def test_one_rank_only_computes() -> None:
    found = computed(row(mesh(), flops=1e12), {"prefetch": True, "seq": 50}, MACHINE)
    assert found["parts_us"] == pytest.approx(
        {"compute": 3000, "tensor": 0, "fsdp": 0, "data": 0, "update": 0}
    )
    assert found["bound"] == "compute" and found["is_compute_bound"]
    assert found["tokens_per_second"] == pytest.approx(50 / 3e-3)
    assert found["model_flops_share"] == pytest.approx(3 / 3e-3 / 1e15)


def test_each_group_has_its_calls_and_its_bytes() -> None:
    given = (calls("fsdp", 5, 600), calls("fsdp", 1, 100), calls("tensor", 2, 100))
    found = time_of(row(mesh(2, 4, 2), *given), 1, True, MACHINE)
    assert found["forward"] == pytest.approx(
        {"compute_us": 0, "tensor_us": 2 + 1, "fsdp_us": 6 + 7, "data_us": 0}
    )


def test_a_component_takes_its_products_or_its_bytes_whatever_is_longer() -> None:
    slow = replace(MACHINE, flops_per_second=1e9, bytes_per_second=1e3)
    given = row(mesh())
    for step, flops, bytes_ in zip(given["steps"], (4e9, 5e9), (2e3, 5e3), strict=True):
        step["work"] = {"loss": [{"flops": flops, "bytes": bytes_}]}
    found = [time_of(given, batch, True, slow)["step_us"] for batch in (1, 2, 4)]
    assert found == pytest.approx([4e6, 5e6, 11e6])


def test_adamw_moves_twenty_eight_bytes_for_each_parameter_of_the_shard() -> None:
    given = row(mesh()) | {"predicted": {"shard_elements": 1000}}
    slow = replace(MACHINE, bytes_per_second=1e6)
    found = time_of(given, 1, True, slow)["parts_us"]
    assert found["update"] == pytest.approx(28_000)


def test_the_least_compute_bound_batch_hides_the_gathers() -> None:
    # A gather of 2 ms inside a node, and 100 us for a sequence's forward pass.
    given = row(mesh(1, 8, 1), calls("fsdp", 0, 2e5), flops=1e11)
    assert compute_bound_batch(given, True, MACHINE) == 20
    assert not time_of(given, 19, True, MACHINE)["is_compute_bound"]


def test_no_batch_is_compute_bound_if_tensor_ranks_send_longer() -> None:
    given = row(mesh(1, 1, 2), calls("tensor", 0, 2e5), flops=1e11, grow=True)
    assert compute_bound_batch(given, True, MACHINE) is None
