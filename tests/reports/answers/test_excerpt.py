# SPDX-License-Identifier: MIT
"""The first screen of README.md."""

from pathlib import Path

import pytest

from reports.answers.excerpt import ROWS
from reports.answers.main import main
from reports.command import status_of
from results import CONTEXT, document, entry, write

README = """# Title
<!-- table: tools/reference my-box -->
old
<!-- /table -->
after
"""
STEP = "model=small precision=fp32 mode=train_step"
RUN = document(
    entry(ROWS[0], 7e3, STEP, peak_bytes=2**21, flops_per_second=1e9),
    entry(ROWS[1], 7e3, peak_bytes=2**21, bytes_per_second=1e9),
    entry("another/case", 1),
    context=CONTEXT | {"device": r"\1" + "x" * 80},
)


def test_a_document_is_updated_between_its_marks(tmp_path: Path) -> None:
    """tests/hygiene compares README.md with the excerpt of its run."""
    (tmp_path / "my-box").mkdir()
    readme, run = tmp_path / "README.md", write(tmp_path / "my-box/full.json", RUN)
    readme.write_text(README)
    assert main(["--readme", str(readme), str(run)]) == 0
    made = readme.read_text()
    head = README.partition("old")[0]
    assert made.startswith(f"{head}\nA `small")
    assert made.endswith("\n```\n\n<!-- /table -->\nafter\n")
    assert max(map(len, made.splitlines())) <= 100 and "old" not in made
    assert r"\1xxx" in made


@pytest.mark.parametrize(
    ("content", "rows", "machine", "message"),
    [
        ("# no mark\n", 3, "my-box", "it has no <!-- table: "),
        (README, 1, "my-box", f"the run has no numbers of {ROWS[1]}"),
        (README, 3, "other", ""),
    ],
)
def test_a_document_that_cannot_be_updated_stays(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: str,
    rows: int,
    machine: str,
    message: str,
) -> None:
    readme, folder = tmp_path / "README.md", tmp_path / machine
    readme.write_text(content)
    folder.mkdir()
    run = write(folder / "full.json", RUN | {"benchmarks": RUN["benchmarks"][:rows]})
    flags = ["--readme", str(readme), str(run)]
    assert status_of("tools/answers", main, flags) == (2 if message else 0)
    assert message in capsys.readouterr().err
    assert readme.read_text() == content
