# SPDX-License-Identifier: MIT
"""The state of the proof, in at most 40 lines."""

import textwrap
from collections.abc import Sequence

from reports.results.text import plural
from tools.prove.state import Json, Part, State

MOST_LINES = 40
_WIDTH = 118
_INDENT = 37


def _block(part: Part, record: Json, note: str) -> list[str]:
    seconds = f"{record['seconds']:.0f} s" if "seconds" in record else ""
    status = record.get("status", "not run")
    head = f"{part.key:<5}{part.stage.name:<12}{status:<11}{seconds:>6}"
    text = "; ".join(record.get("look_at", [])) or note
    wrapped = textwrap.wrap(
        text, _WIDTH - _INDENT, max_lines=2, placeholder=" ...", break_long_words=True
    )
    lines = wrapped or [""]
    first = f"{head:<{_INDENT}}{lines[0]}".rstrip()
    return [first, *(" " * _INDENT + line for line in lines[1:])]


def _fitting(blocks: Sequence[list[str]], room: int) -> list[str]:
    """The first line of each block, and as many second lines as fit."""
    spare = room - len(blocks)
    lines = []
    for block in blocks:
        lines.append(block[0])
        if len(block) > 1 and spare > 0:
            lines.append(block[1])
            spare -= 1
    return lines


def render(
    parts: Sequence[Part], state: State, late: Sequence[Part], again: bool = False
) -> str:
    """`late` did not fit into this call, which had --again if `again` is set."""
    blocks = []
    for part in parts:
        note = f"needs {part.stage.limit:.0f} s" if part in late else "not chosen"
        blocks.append(_block(part, state.parts.get(part.key, {}), note))
    head = f"{'#':<5}{'stage':<12}{'status':<11}{'time':>6}"
    first = f"{head:<{_INDENT}}look at"
    seconds = sum(call.get("seconds", 0) for call in state.calls)
    last = [f"{plural(len(state.calls), 'call')}, {seconds:.0f} s together"]
    if late:
        keys = ", ".join(part.key for part in late)
        unlike = " without --again" if again else ""
        last.append(f"the same line{unlike} again goes on with {keys}")
    body = _fitting(blocks, MOST_LINES - 1 - len(last))
    return "\n".join([first, *body, *last])
