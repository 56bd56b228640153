# SPDX-License-Identifier: MIT
"""The kernels of a profiled step, or its operators on a CPU."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from reports.answers.conclusions import exceeds
from reports.answers.measured import Measured, Series, unknown
from reports.answers.ranges import statistics_of
from reports.results import text
from reports.results.profiles import Kernel, Profile
from reports.results.rows import grouped
from reports.results.text import Table

TOP = 5  # kernels in the table of those that take most time
# In table order. "other" are operators that call others.
FAMILIES = (
    *("gemm", "attention", "reduce", "elementwise", "copy", "fill", "gather"),
    *("optimizer", "communication", "other"),
)
_SPANS: dict[str, Collection[str] | None] = {  # phases; None: all
    "forward": ("forward",),
    "forward and backward": ("forward", "loss", "backward"),
    "step": None,
}


@dataclass(frozen=True)
class _Sum:
    """The sum of the kernels with one name in a span of phases."""

    name: str
    instances: int
    total_us: float
    span_us: float  # of all kernels there
    passes: tuple[float, ...]  # the time in each pass, if the result has it

    @property
    def told(self) -> str:
        """States its share of the span, without times only its calls."""
        calls = text.plural(self.instances, "call")
        share = text.percent(self.total_us / self.span_us) if self.span_us else ""
        return f"{share}, {calls}" if share else calls

    @property
    def measured(self) -> Measured:
        """The sum, to compare in each pass: a slow one lengthens all kernels."""
        series = Series("passes", self.passes)
        return replace(unknown(self.total_us), series=series)


def _total(kernels: Iterable[Kernel | _Sum]) -> float:
    return sum(kernel.total_us for kernel in kernels)


def _weight(kernel: Kernel | _Sum) -> tuple[float, int]:
    return -kernel.total_us, -kernel.instances


def _per_step(profile: Profile, whole_us: float) -> str:
    """Says that totals are means: unlike the rows' medians, a slow pass raises them."""
    passes = f", mean of {profile.passes} passes of one process" if whole_us else ""
    return f"per step{passes}"


def kernels_table(profile: Profile, step: str) -> Table:
    """Makes a table like Nsight's kernel summary, longest total time first."""
    whole_us = _total(profile.kernels)
    headings = [profile.of.removesuffix("s"), "phase", "family", "instances"]
    headings += ["total", "share", "mean", "median", "min", "max", "std"]
    lines = []
    for kernel in sorted(profile.kernels, key=_weight):
        us = kernel.total_us
        cells = [profile.short(kernel.name), kernel.phase, kernel.family]
        cells.append(str(kernel.instances))
        cells += [text.time(us), text.percent(us / whole_us)] if us else ["-", "-"]
        lines.append(cells + statistics_of(kernel.time_us))
    title = f"The {profile.of} of {step}, {_per_step(profile, whole_us)}"
    return Table(headings, lines, title).compact()


def families_table(profile: Profile, inference: Profile | None, step: str) -> Table:
    """Makes the table of each kernel family's share of each phase."""
    columns = grouped(profile.kernels, lambda kernel: kernel.phase)
    columns["step"] = profile.kernels
    if inference is not None:
        columns["inference"] = inference.kernels

    def cell(kernels: list[Kernel], family: str) -> str:
        own = [kernel for kernel in kernels if kernel.family == family]
        if not own:
            return "-"
        if not (whole_us := _total(kernels)):
            return str(sum(kernel.instances for kernel in own))
        us = _total(own)
        return f"{text.time(us)}, {text.percent(us / whole_us)}"

    known = {kernel.family for kernels in columns.values() for kernel in kernels}
    families = [family for family in FAMILIES if family in known]
    lines = [
        [family, *(cell(kernels, family) for kernels in columns.values())]
        for family in [*families, *sorted(known - set(FAMILIES))]
    ]
    whole_us = _total(profile.kernels)
    what = "times" if whole_us else "instances"
    title = f"The {what} of {step} by family of {profile.of}"
    return Table(
        ["family", *columns], lines, f"{title}, {_per_step(profile, whole_us)}"
    )


def _sums(kernels: Sequence[Kernel], span: str) -> list[_Sum]:
    """Sums the kernels of a span by name, longest total time first."""
    phases = _SPANS[span]
    own = [k for k in kernels if phases is None or k.phase in phases]
    span_us, sums = _total(own), []
    for name, same in grouped(own, lambda kernel: kernel.name).items():
        instances = sum(kernel.instances for kernel in same)
        times = [k.time_us.totals for k in same if k.time_us]
        passes = tuple(map(sum, zip(*times, strict=False)))
        sums.append(_Sum(name, instances, _total(same), span_us, passes))
    return sorted(sums, key=_weight)


def _phases(profile: Profile) -> set[str]:
    return {kernel.phase for kernel in profile.kernels}


def top_table(profile: Profile, step: str) -> Table | None:
    """Makes the table of those that take most of each span."""
    if "backward" not in _phases(profile):
        return None
    top = [_sums(profile.kernels, span)[:TOP] for span in _SPANS]
    columns = [
        [f"{profile.short(one.name)}: {one.told}" for one in sums] for sums in top
    ]
    places = enumerate(zip_longest(*columns, fillvalue="-"), start=1)
    lines = [[str(place), *cells] for place, cells in places]
    title = f"The {profile.of} that take most of {step}, of all {profile.of} there"
    return Table(["", *_SPANS], lines, title=title)


def products_in(profile: Profile) -> str:
    """Names the one that takes most of the products' time in a step, e.g. "mostly in
    `aten::mm`"; "" if that is unclear."""
    products = [one for one in profile.kernels if one.family == "gemm"]
    sums = [one for one in _sums(products, "step")[:2] if one.total_us]
    if not sums or (sums[1:] and not exceeds(sums[0].measured, sums[1].measured)):
        return ""
    is_most = 2 * sums[0].total_us > sums[0].span_us
    return f"{'mostly' if is_most else 'most'} in `{profile.short(sums[0].name)}`"
