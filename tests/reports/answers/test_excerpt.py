# SPDX-License-Identifier: MIT
"""The first screen of README.md."""

from pathlib import Path

import pytest

from reports.answers.__main__ import main
from reports.answers.excerpt import ROWS, with_excerpt
from reports.results.rows import parse
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
    context=CONTEXT | {"device": "x" * 80},
)


def test_rows_and_columns_that_fit() -> None:
    made = with_excerpt(README, parse(RUN))
    head = "# Title\n<!-- table: tools/reference my-box -->\n\nA `small fp32"
    end = (
        "\n...\n3 cases: 3 measured, 0 skipped, 0 failed\n```\n\n<!-- /table -->\nafter"
    )
    assert made.startswith(head) and made.endswith(f"{end}\n")
    screen = made.split("```")[1]
    assert max(map(len, screen.splitlines())) <= 100
    cells = [line.split() for line in screen.splitlines() if line]
    assert cells[0][:2] == ["git_revision:", "a" * 12] and cells[1][0] == "device:"
    assert cells[3] == ["case", "time", "rate", "peak", "mem"]
    rate = {ROWS[0]: "GFLOP/s", ROWS[1]: "GB/s"}
    for name, line in zip(ROWS, cells[4:], strict=False):
        assert line == [name, "7", "ms", "1", rate[name], "2", "MiB"]
    assert with_excerpt(made, parse(RUN)) == made


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
    assert main(["--readme", str(readme), str(run)]) == (2 if message else 0)
    assert message in capsys.readouterr().err
    assert readme.read_text() == content
