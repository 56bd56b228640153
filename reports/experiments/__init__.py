# SPDX-License-Identifier: MIT
"""What is said of each experiment, found by itself.

The module <name>.py of this folder belongs to benchmarks/<name>.cc. It may define

    answer(result) -> (sentence, table), or None if the result lacks rows;
    details(result) -> further tables;
    figures(result) -> plots, none if the result lacks rows;
    PLACE, which orders the sections of a report.

An experiment without a module has a default table and plot on the page.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from reports.results.rows import Result
from reports.results.text import Table

Answerer = Callable[[Result], tuple[str, Table] | None]
_LAST = 1000


@dataclass(frozen=True)
class Experiment:
    answer: Answerer = lambda result: None
    details: Callable[[Result], list[Table]] = lambda result: []
    # Of reports.pages.plotting.figure.Figure; None: no plot beside the answer.
    figures: Callable[[Result], list[Any]] | None = None
    place: int = _LAST


def _of(module: Any) -> Experiment:
    known = {
        name: getattr(module, name)
        for name in ("answer", "details", "figures")
        if hasattr(module, name)
    }
    return Experiment(**known, place=getattr(module, "PLACE", _LAST))


@cache
def known() -> dict[str, Experiment]:
    """The experiments that have a module, in reading order."""
    found = {
        info.name: _of(importlib.import_module(f"{__name__}.{info.name}"))
        for info in pkgutil.iter_modules(__path__)
    }
    return dict(sorted(found.items(), key=lambda item: (item[1].place, item[0])))
