# SPDX-License-Identifier: MIT
"""The state of the proof, with at most two lines for each part."""

import textwrap
from collections.abc import Sequence

from reports.results.text import plural
from tools.prove.state import Json, Part, State

_WIDTH = 118
_INDENT = 37


def _block(part: Part, record: Json, note: str) -> list[str]:
    seconds = f"{record['seconds']:.0f} s" if "seconds" in record else ""
    status = record.get("status", "not run")
    head = f"{part.key:<5}{part.stage.name:<12}{status:<11}{seconds:>6}"
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
    parts: Sequence[Part], state: State, late: Sequence[Part], again: bool = False
) -> str:
    """`late` did not fit into this call, which had --again if `again` is set."""
    lines = []
    for part in parts:
        note = f"needs {part.stage.limit:.0f} s" if part in late else "not chosen"
        lines += _block(part, state.parts.get(part.key, {}), note)
    head = f"{'#':<5}{'stage':<12}{'status':<11}{'time':>6}"
    first = f"{head:<{_INDENT}}look at"
    seconds = sum(call.get("seconds", 0) for call in state.calls)
    last = [f"{plural(len(state.calls), 'call')}, {seconds:.0f} s together"]
    if late:
        keys = ", ".join(part.key for part in late)
        unlike = " without --again" if again else ""
        last.append(f"the same line{unlike} again goes on with {keys}")
    return "\n".join([first, *lines, *last])
