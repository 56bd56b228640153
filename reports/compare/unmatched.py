# SPDX-License-Identifier: MIT
"""Rows that lack a number in a run: they are told, never dropped."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reports.results.rows import Result


@dataclass(frozen=True)
class Unmatched:
    name: str
    base: str  # "measured", "absent", "skipped: why", "error: why"
    new: str
    fails: bool  # a number was lost, or there is an error in the new runs

    @property
    def known_to_both(self) -> bool:
        return "absent" not in (self.base, self.new)


def _states(results: Iterable[Result]) -> dict[str, list[str]]:
    """For each name its state in every run that knows it."""
    states: dict[str, list[str]] = {}
    for result in results:
        for row in result.rows:
            states.setdefault(row.name, []).append("measured")
        for word, failures in (("skipped", result.skipped), ("error", result.errors)):
            for one in failures:
                states.setdefault(one.name, []).append(f"{word}: {one.reason}")
    return states


def _told(states: Sequence[str], runs: int, all_measure: bool) -> str:
    """The worst state, and in how many of the runs if not in all."""
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
    """The rows without a number on a side, and those that a run could not measure.

    Unless `all_measure`, that some runs lack a row is not told: tools/ab stops
    measuring what it has decided.
    """
    befores, afters = _states(base), _states(new)
    found = []
    for name in {**befores, **afters}:
        before, after = befores.get(name, []), afters.get(name, [])
        one = _told(before, len(base), all_measure)
        two = _told(after, len(new), all_measure)
        if one == two == "measured":
            continue
        lost = "measured" in before and "measured" not in after
        found.append(Unmatched(name, one, two, lost or two.startswith("error")))
    return found
