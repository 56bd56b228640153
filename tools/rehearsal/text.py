# SPDX-License-Identifier: MIT
"""A rehearsal as text, for a terminal."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from reports.results import text
from reports.results.kernel_names import shortened

Json = Mapping[str, Any]

_SHOWN = 4  # families of a phase, and cases that have it
_COMPONENTS = 5  # with their own column
_COPIES = {
    "h2d": "host to device",
    "d2h": "device to host",
    "d2d": "device to device",
    "h2h": "host to host",
}
_NOTES = """\
Exact: the bytes of tensors and of libraries at the caching allocator's peak, the most
that it reserved and the share of that which was not used; the kernels, copies and fills
of one call, after a first one.
Host time: what this machine takes to enqueue a call, without the part of a real driver.
A call for which the GPU takes less than that is bound by launches on this host.
Computed: the least time is that of the FLOPs of the matrix products at the data sheet's
dense rate (F) or of the bytes that a component's operators read and write at its
bandwidth (B), whichever is larger. The kernels did nothing, so no other time of the GPU
is known."""


def _optional(value: float | None, formatted: Callable[[float], str]) -> str:
    return "-" if value is None else formatted(value)


def table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(text.columns([headings, *lines]))


def where(full: Json) -> str:
    """Where memory ends, and why."""
    operator = full["operator"] or "an unknown operator"
    place = "the build" if full["phase"] == "build" else full["phase"]
    if not full["requested_bytes"]:
        return f"ends in {place}, in {operator}"
    return (
        f"ends in {place}: {operator} asks for {text.size(full['requested_bytes'])}, "
        f"{text.size(full['allocated_bytes'])} are taken"
    )


def _fits(case: Json) -> str:
    reason: str = case["reason"]
    if case["out_of_memory"] is not None:
        return f"no, {where(case['out_of_memory'])}"
    if case["fits"] is None:
        return reason or "not rehearsed"
    return f"yes, but {reason}" if reason else "yes"


def _memory(cases: Sequence[Json]) -> str:
    lines = [
        [
            case["name"],
            _optional(case["predicted_bytes"], text.size),
            *(
                _optional(None if case["out_of_memory"] else case[key], formatted)
                for key, formatted in (
                    ("tensor_bytes", text.size),
                    ("library_bytes", text.size),
                    ("reserved_bytes", text.size),
                    ("unused_share", text.percent),
                )
            ),
            _fits(case),
        ]
        for case in cases
    ]
    headings = ["memory", "predicted", "tensors", "libraries", "reserved", "unused"]
    return table([*headings, "fits"], lines)


def _counts(case: Json) -> Counter[str]:
    """The null GPU's counters, over all phases."""
    return sum((Counter(phase["counters"]) for phase in case["phases"]), Counter())


def _copies(counts: Counter[str]) -> Iterator[str]:
    for key, words in _COPIES.items():
        if count := counts[f"copies_{key}"]:
            size = text.size(counts[f"copy_bytes_{key}"])
            yield f"{count} {'copy' if count == 1 else 'copies'} {words}, {size}"
    for noun in ("fill", "collective"):
        if count := counts[f"{noun}s"]:
            yield f"{text.plural(count, noun)}, {text.size(counts[f'{noun}_bytes'])}"
    if waits := counts["waits"]:
        yield f"the host waits {waits} times" if waits > 1 else "the host waits once"


def _work(cases: Sequence[Json]) -> str:
    lines = [["one call", "kernels", "host time", "copies and fills"]]
    for case in (case for case in cases if case["phases"]):
        counts = _counts(case)
        host = _optional(case["host_us"], text.time)
        copies = "; ".join(_copies(counts)) or "none"
        lines.append([case["name"], str(counts["launches"]), host, copies])
    return "\n".join(text.columns(lines))


def _least(component: Json | None) -> str:
    if component is None or not component["computed_least_us"]:
        return "-"
    by_flops = component["computed_least_us"] == component["flops_us"]
    return f"{text.time(component['computed_least_us'])} {'F' if by_flops else 'B'}"


def _times(cases: Sequence[Json]) -> str:
    parts = {
        case["name"]: {part["name"]: part for part in case["components"]}
        for case in cases
        if any(part["computed_least_us"] for part in case["components"])
    }
    largest = Counter[str]()
    for own in parts.values():
        largest.update({name: part["computed_least_us"] for name, part in own.items()})
    most = dict(largest.most_common(_COMPONENTS))
    names = [name for name in largest if name in most]
    others = ["others"] if len(largest) > len(names) else []
    lines = []
    for case, own in parts.items():
        us = {name: part["computed_least_us"] for name, part in own.items()}
        shown, total = sum(us.get(name, 0) for name in names), sum(us.values())
        least = (_least(own.get(name)) for name in names)
        rest = [text.time(total - shown)] if others else []
        lines.append([case, *least, *rest, text.time(total), ""])
    headings = ["least time, computed", *names, *others, "sum", ""]
    return table(headings, lines) if lines else ""


def _same_work(cases: Sequence[Json]) -> list[tuple[Json, list[str]]]:
    """Groups phases that launch the same kernels equally often; lists their cases."""
    groups: dict[tuple[object, ...], tuple[Json, list[str]]] = {}
    for case in cases:
        for phase in case["phases"]:
            launches = ((one["name"], one["launches"]) for one in phase["kernels"])
            _, names = groups.setdefault((phase["name"], *launches), (phase, []))
            names.append(case["name"])
    return list(groups.values())


def _phase(phase: Json, names: Sequence[str], kernels: int) -> Iterator[str]:
    found, every = phase["families"], phase["kernels"]
    shown = [f"{launches} {name}" for name, launches in [*found.items()][:_SHOWN]]
    if len(found) > _SHOWN:
        shown.append(f"{sum([*found.values()][_SHOWN:])} others")
    total = text.plural(sum(found.values()), "kernel")
    yield f"{phase['name']}: {total}: {', '.join(shown)}"
    yield from (f"  in {name}" for name in names[:_SHOWN])
    if len(names) > _SHOWN:
        yield f"  and {len(names) - _SHOWN} more"
    for kernel in every[:kernels]:
        yield f"    {kernel['launches']:6} {shortened(kernel['name'])}"
    if kernels and len(every) > kernels:
        yield f"           and {len(every) - kernels} more names"


def _kernels(cases: Sequence[Json], kernels: int) -> Iterator[str]:
    groups = [group for group in _same_work(cases) if group[0]["kernels"]]
    if groups:
        yield "kernels of each phase, most frequent first"
    for phase, names in groups:
        yield from _phase(phase, names, kernels)


def render(document: Json, kernels: int) -> str:
    """Formats the rehearsals; `kernels` is the number of names shown per phase."""
    cases, devices = document["cases"], document["devices"]
    head = ", ".join(devices) or "nothing was rehearsed"
    if devices:
        free = max(case["free_bytes"] or 0 for case in cases)
        head += f", {text.size(free)} free; {text.plural(len(cases), 'case')}"
    rehearsed = [case for case in cases if case["fits"] is not None]
    parts = [
        head,
        _memory(cases),
        _work(rehearsed),
        _times(rehearsed),
        "\n".join(_kernels(rehearsed, kernels)),
        _NOTES,
    ]
    return "\n\n".join(part for part in parts if part)
