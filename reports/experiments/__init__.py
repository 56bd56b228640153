# SPDX-License-Identifier: MIT
"""How each experiment is reported.

The module <name>.py of this folder belongs to benchmarks/<name>.cc and defines SPEC. It
needs no registration. An experiment without a module has the default SPEC.
"""

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache

from reports.experiments.spec import Spec


@cache
def known() -> dict[str, Spec]:
    """Returns the specs by experiment, in reading order."""
    found = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        if hasattr(module, "SPEC"):
            found[info.name] = module.SPEC
    return dict(sorted(found.items(), key=lambda item: (item[1].place, item[0])))


def ordered(names: Iterable[str]) -> list[str]:
    """Returns the distinct names: those with a spec first, in reading order."""
    places = {name: place for place, name in enumerate(known())}
    return sorted(dict.fromkeys(names), key=lambda n: places.get(n, len(places)))


def spec_of(experiment: str) -> Spec:
    return known().get(experiment, Spec())
