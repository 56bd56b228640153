# SPDX-License-Identifier: MIT
"""A rehearsal as text, for a terminal."""

from collections import Counter
from collections.abc import Iterator, Sequence

from reports.results import text
from reports.results.kernel_names import shortened
from tools.planner.tables import Json, at, each, table

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


_MEMORY = {
    "memory": at("name"),
    "predicted": at("predicted_bytes", text.size),
    "tensors": at("tensor_bytes", text.size),
    "libraries": at("library_bytes", text.size),
    "reserved": at("reserved_bytes", text.size),
    "unused": at("unused_share", text.percent),
    "fits": _fits,
}
_WORK = {
    "one call": at("name"),
    "kernels": lambda case: str(_counts(case)["launches"]),
    "host time": at("host_us", text.time),
    "copies and fills": lambda case: "; ".join(_copies(_counts(case))) or "none",
}


def _memory(cases: Sequence[Json]) -> str:
    # The peak of a case that memory ended is only how far it came.
    unknown = dict.fromkeys(
        ("tensor_bytes", "library_bytes", "reserved_bytes", "unused_share")
    )
    lines = [{**case, **unknown} if case["out_of_memory"] else case for case in cases]
    return table(lines, _MEMORY, (0, -1))


def _least(component: Json | None) -> str:
    if component is None or not component["computed_least_us"]:
        return "-"
    by_flops = component["computed_least_us"] == component["flops_us"]
    return f"{text.time(component['computed_least_us'])} {'F' if by_flops else 'B'}"


def _times(cases: Sequence[Json]) -> str:
    timed = [
        case
        for case in cases
        if any(part["computed_least_us"] for part in case["components"])
    ]
    largest = Counter[str]()
    for case in timed:
        for part in case["components"]:
            largest[part["name"]] += part["computed_least_us"]
    names = [*dict(largest.most_common(_COMPONENTS))]

    def us(case: Json, but: Sequence[str] = ()) -> str:
        parts = (part for part in case["components"] if part["name"] not in but)
        return text.time(sum(part["computed_least_us"] for part in parts))

    def shown(case: Json) -> Json:
        parts = {part["name"]: part for part in case["components"]}
        return {name: parts.get(name) for name in largest if name in names}

    columns = {"least time, computed": at("name"), **each(timed, shown, _least)}
    if len(largest) > len(names):
        columns["others"] = lambda case: us(case, names)
    columns["sum"] = us
    return table(timed, columns) if timed else ""


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
        shown.append(text.plural(sum([*found.values()][_SHOWN:]), "other"))
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
        table([case for case in rehearsed if case["phases"]], _WORK, (0, -1)),
        _times(rehearsed),
        "\n".join(_kernels(rehearsed, kernels)),
        _NOTES,
    ]
    return "\n\n".join(part for part in parts if part)
