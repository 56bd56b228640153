# SPDX-License-Identifier: MIT
"""Checks a tool's error for an unsupported flag."""

from collections.abc import Callable

import pytest


def check_refused(
    parse: Callable[[], object], flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`parse` must end the process; its last line names the flag `--name=value`."""
    with pytest.raises(SystemExit) as raised:
        parse()
    assert raised.value.code == 2
    assert flag.split("=")[0] in capsys.readouterr().err.splitlines()[-1]
