# SPDX-License-Identifier: MIT
"""What the documents name is there."""

import checks
import pytest

REFERENCE = "reports/reference/xeon-2-cores/quick.txt"


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_every_path_exists(document: str) -> None:
    text = checks.read(document)
    assert checks.paths_in(text)
    missing = checks.missing_paths(text, lambda path: (checks.ROOT / path).exists())
    assert missing == []


def test_the_table_on_the_first_screen_is_the_reference_runs() -> None:
    block = checks.read("README.md").split("```")[3]
    printed = {line.rstrip() for line in checks.read(REFERENCE).splitlines()}
    lines = [line.rstrip() for line in block.splitlines() if line.strip()]
    rows = [line for line in lines if line != "..."]
    assert len(rows) > 10
    assert [line for line in rows if line not in printed] == []
