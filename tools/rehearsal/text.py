# SPDX-License-Identifier: MIT
"""A rehearsal as text, for a terminal."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from reports.results import text
from reports.results.kernel_names import shortened
from tools.rehearsal.records import Component, OutOfMemory, Phase, Rehearsal
from tools.rehearsal.summary import families, same_work

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


def where(found: OutOfMemory) -> str:
    operator = found.operator or "an unknown operator"
    place = "the build" if found.phase == "build" else found.phase
    if not found.requested_bytes:
        return f"ends in {place}, in {operator}"
    return (
        f"ends in {place}: {operator} asks for {text.size(found.requested_bytes)}, "
        f"{text.size(found.allocated_bytes)} are taken"
    )


def _fits(case: Rehearsal) -> str:
    if case.out_of_memory is not None:
        return f"no, {where(case.out_of_memory)}"
    if case.device is None:
        return case.reason or "not rehearsed"
    return f"yes, but {case.reason}" if case.reason else "yes"


def _memory(cases: Sequence[Rehearsal]) -> str:
    lines = [
        [
            case.name,
            _optional(case.predicted_bytes, text.size),
            *(
                _optional(None if case.out_of_memory else value, formatted)
                for value, formatted in (
                    (case.tensor_bytes, text.size),
                    (case.library_bytes, text.size),
                    (case.reserved_bytes, text.size),
                    (case.unused_share, text.percent),
                )
            ),
            _fits(case),
        ]
        for case in cases
    ]
    headings = ["memory", "predicted", "tensors", "libraries", "reserved", "unused"]
    return table([*headings, "fits"], lines)


def _copies(case: Rehearsal) -> Iterator[str]:
    for key, words in _COPIES.items():
        if count := case.count(f"copies_{key}"):
            size = text.size(case.count(f"copy_bytes_{key}"))
            yield f"{count} {'copy' if count == 1 else 'copies'} {words}, {size}"
    if fills := case.count("fills"):
        yield f"{text.plural(fills, 'fill')}, {text.size(case.count('fill_bytes'))}"
    if collectives := case.count("collectives"):
        size = text.size(case.count("collective_bytes"))
        yield f"{text.plural(collectives, 'collective')}, {size}"
    if waits := case.count("waits"):
        yield f"the host waits {waits} times" if waits > 1 else "the host waits once"


def _work(cases: Sequence[Rehearsal]) -> str:
    lines = [
        [
            case.name,
            str(case.count("launches")),
            _optional(case.host_us, text.time),
            "; ".join(_copies(case)) or "none",
        ]
        for case in cases
        if case.phases
    ]
    return table(["one call", "kernels", "host time", "copies and fills"], lines)


def _least(component: Component | None) -> str:
    if component is None or not component.least_us:
        return "-"
    by_flops = (component.flops_us or 0) >= (component.bytes_us or 0)
    return f"{text.time(component.least_us)} {'F' if by_flops else 'B'}"


def _times(cases: Sequence[Rehearsal]) -> str:
    cases = [case for case in cases if any(c.least_us for c in case.components)]
    largest = Counter[str]()
    for case in cases:
        largest.update({c.name: c.least_us for c in case.components})
    most = dict(largest.most_common(_COMPONENTS))
    names = [name for name in largest if name in most]
    others = ["others"] if len(largest) > len(names) else []
    lines = []
    for case in cases:
        by_name = {component.name: component for component in case.components}
        total = sum(component.least_us for component in case.components)
        shown = sum(by_name[name].least_us for name in names if name in by_name)
        lines.append(
            [
                case.name,
                *(_least(by_name.get(name)) for name in names),
                *([text.time(total - shown)] if others else []),
                text.time(total),
                "",
            ]
        )
    headings = ["least time, computed", *names, *others, "sum", ""]
    return table(headings, lines) if lines else ""


def _phase(phase: Phase, names: Sequence[str], kernels: int) -> Iterator[str]:
    found = families(phase)
    shown = [f"{launches} {name}" for name, launches in found[:_SHOWN]]
    if len(found) > _SHOWN:
        rest = sum(launches for _, launches in found[_SHOWN:])
        shown.append(f"{rest} others")
    total = sum(kernel.launches for kernel in phase.kernels)
    yield f"{phase.name}: {text.plural(total, 'kernel')}: {', '.join(shown)}"
    yield from (f"  in {name}" for name in names[:_SHOWN])
    if len(names) > _SHOWN:
        yield f"  and {len(names) - _SHOWN} more"
    for kernel in phase.kernels[:kernels]:
        yield f"    {kernel.launches:6} {shortened(kernel.name)}"
    if kernels and len(phase.kernels) > kernels:
        yield f"           and {len(phase.kernels) - kernels} more names"


def _kernels(cases: Sequence[Rehearsal], kernels: int) -> Iterator[str]:
    groups = [group for group in same_work(cases) if group[0].kernels]
    if groups:
        yield "kernels of each phase, most frequent first"
    for phase, names in groups:
        yield from _phase(phase, names, kernels)


def render(cases: Sequence[Rehearsal], kernels: int) -> str:
    """Formats the rehearsals; `kernels` is the number of names shown per phase."""
    devices = dict.fromkeys(case.device for case in cases if case.device)
    free = max((case.free_bytes or 0 for case in cases), default=0)
    head = f"{', '.join(devices) or 'nothing was rehearsed'}"
    if devices:
        head += f", {text.size(free)} free; {text.plural(len(cases), 'case')}"
    rehearsed = [case for case in cases if case.device]
    parts = [
        head,
        _memory(cases),
        _work(rehearsed),
        _times(rehearsed),
        "\n".join(_kernels(rehearsed, kernels)),
        _NOTES,
    ]
    return "\n\n".join(part for part in parts if part)
