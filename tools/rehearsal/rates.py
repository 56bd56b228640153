# SPDX-License-Identifier: MIT
"""The rates of a GPU, as the null GPU reads them to predict times
(tools/null_gpu/core/rates.h)."""

from tools.planner.timing.rates import BACKWARD, HALF_SEQ, Device
from tools.planner.timing.step import CALL_US


def text_of(device: Device) -> str:
    """Returns the file: each line has a rate or a measured product. Products of all
    precisions reach the same shares of their peaks. Raises ValueError if the device
    lacks a rate."""
    values = {
        **{name: device.peak(name) for name in ("fp32", "tf32", "bf16", "memory")},
        "memory_share": device.memory["add"][1],
        "attention": device.peak("attention"),
        "attention_half_seq": HALF_SEQ,
        "attention_backward": BACKWARD,
        "link": device.peak("nvlink"),
        "link_us": CALL_US,
        "host_link": device.peak("pcie"),
    }
    lines = [f"{name} {value:.6g}" for name, value in values.items()]
    shares = device.shares["bf16"]
    for (flops_us, bytes_us), share in zip(shares.least_us, shares.share, strict=True):
        lines.append(f"product {flops_us:.6g} {bytes_us:.6g} {share:.6g}")
    return "\n".join(lines) + "\n"
