# SPDX-License-Identifier: MIT
"""The state of the proof, with at most two lines for each stage."""

import textwrap
from collections.abc import Sequence

from reports.results.text import plural
from tools.prove.readings import Json
from tools.prove.stages import Stage
from tools.prove.state import State

_WIDTH = 118
_INDENT = 37


def _block(stage: Stage, record: Json, note: str) -> list[str]:
    seconds = f"{record['seconds']:.0f} s" if "seconds" in record else ""
    status = record.get("status", "not run")
    head = f"{stage.key:<5}{stage.name:<12}{status:<11}{seconds:>6}"
    text = "; ".join(record.get("look_at", [])) or note
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"{head:<{_INDENT}}",
        subsequent_indent=" " * _INDENT,
        max_lines=2,
        placeholder=" ...",
    )


def render(
    stages: Sequence[Stage], state: State, late: Sequence[Stage], again: bool = False
) -> str:
    """`late` is left for the next call; this one had --again if `again` is set."""
    lines = []
    for stage in stages:
        note = f"needs {stage.limit:.0f} s" if stage in late else "not chosen"
        lines += _block(stage, state.parts.get(stage.key, {}), note)
    head = f"{'#':<5}{'stage':<12}{'status':<11}{'time':>6}"
    first = f"{head:<{_INDENT}}look at"
    seconds = sum(call.get("seconds", 0) for call in state.calls)
    last = [f"{plural(len(state.calls), 'call')}, {seconds:.0f} s together"]
    if late:
        keys = ", ".join(stage.key for stage in late)
        unlike = " without --again" if again else ""
        last.append(f"the next call{unlike} continues with {keys}")
    return "\n".join([first, *lines, *last])
