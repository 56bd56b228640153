# SPDX-License-Identifier: MIT
"""Lists the rows that some run did not measure; none is dropped silently."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reports.results.rows import Result


@dataclass(frozen=True)
class Unmatched:
    name: str
    base: str  # "measured", "absent", "skipped: why", "error: why"
    new: str
    fails: bool  # the new side lost the row, or has an error

    @property
    def known_to_both(self) -> bool:
        return "absent" not in (self.base, self.new)


def _states(results: Iterable[Result]) -> dict[str, list[str]]:
    """By row name, the state in every run that lists the row."""
    states: dict[str, list[str]] = {}
    for result in results:
        for row in result.rows:
            states.setdefault(row.name, []).append("measured")
        for word, failures in (("skipped", result.skipped), ("error", result.errors)):
            for failure in failures:
                states.setdefault(failure.name, []).append(f"{word}: {failure.reason}")
    return states


def _summary(states: Sequence[str], runs: int, all_measure: bool) -> str:
    """The worst state, with the number of runs if not all have it."""
    for word in ("error", "skipped"):
        found = [state for state in states if state.startswith(word)]
        if found:
            often = f" (in {len(found)} of {runs} runs)" if len(found) < runs else ""
            return found[0] + often
    if states and len(states) < runs and all_measure:
        return f"absent in {runs - len(states)} of {runs} runs"
    return "measured" if states else "absent"


def unmatched(
    base: Sequence[Result], new: Sequence[Result], all_measure: bool
) -> list[Unmatched]:
    """The rows without a number on one side, or in one run.

    Without `all_measure`, a row needs a number in one run of each side only: tools/ab
    stops measuring decided rows.
    """
    befores, afters = _states(base), _states(new)
    found = []
    for name in {**befores, **afters}:
        before, after = befores.get(name, []), afters.get(name, [])
        in_base = _summary(before, len(base), all_measure)
        in_new = _summary(after, len(new), all_measure)
        if in_base == in_new == "measured":
            continue
        lost = "measured" in before and "measured" not in after
        fails = lost or in_new.startswith("error")
        found.append(Unmatched(name, in_base, in_new, fails))
    return found
