# SPDX-License-Identifier: MIT
"""How each experiment is reported."""

from collections.abc import Iterable

from reports.experiments.spec import Spec
from reports.experiments.specs import SPECS


def ordered(names: Iterable[str]) -> list[str]:
    """Returns the distinct names: those with a spec first, in reading order."""
    places = {name: place for place, name in enumerate(SPECS)}
    return sorted(dict.fromkeys(names), key=lambda n: places.get(n, len(places)))


def spec_of(experiment: str) -> Spec:
    return SPECS.get(experiment, Spec())
