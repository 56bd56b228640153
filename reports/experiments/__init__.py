# SPDX-License-Identifier: MIT
"""What is said of each experiment, found by itself.

The module <name>.py of this folder belongs to benchmarks/<name>.cc and defines SPEC.
An experiment without a module has the default one.
"""

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache

from reports.experiments.spec import Spec


@cache
def known() -> dict[str, Spec]:
    """The experiments that have a spec, in reading order."""
    found = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        if hasattr(module, "SPEC"):
            found[info.name] = module.SPEC
    return dict(sorted(found.items(), key=lambda item: (item[1].place, item[0])))


def ordered(names: Iterable[str]) -> list[str]:
    """Each once: first those with a spec, in its order."""
    places = {name: place for place, name in enumerate(known())}
    return sorted(dict.fromkeys(names), key=lambda n: places.get(n, len(places)))


def spec_of(experiment: str) -> Spec:
    return known().get(experiment, Spec())
