# SPDX-License-Identifier: MIT
"""What the documents name is there."""

import checks
import pytest


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_every_path_exists(document: str) -> None:
    text = checks.read(document)
    assert checks.paths_in(text)
    missing = checks.missing_paths(text, lambda path: (checks.ROOT / path).exists())
    assert missing == []
