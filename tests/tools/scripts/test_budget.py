# SPDX-License-Identifier: MIT
"""tools/budget on a repository of a few lines."""

import shutil
from pathlib import Path

import pytest

from stub_checkout import git
from tools.lib.budget import LIMITS, RATIO, main, prose_of, read_limits

ROOMS = ("a c/one.py", "b", "tests tools")
HEAD = "what\tmost\tgoal\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, content in {
        "a/x.cc": "// Whose it is.\nint x;\n",
        "a/notes.md": "Those of others are told.\n",
        "b/y.py": '"""Of which one."""  # beside\nBESIDE = 1\n',
        "c/one.py": "\n\n\n",
        "tests/z_test.cc": "// told\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    git(tmp_path, "init", "--quiet")
    set_limits(tmp_path, **dict.fromkeys(ROOMS, 5))
    return tmp_path


def set_limits(root: Path, **most: int) -> None:
    lines = "".join(f"{what}\t{count}\t1\n" for what, count in most.items())
    (root / LIMITS).parent.mkdir(parents=True, exist_ok=True)
    (root / LIMITS).write_text(HEAD + lines)


def run(root: Path, *flags: str) -> tuple[int, dict[str, int]]:
    said: list[str] = []
    status = main(flags, root, said.append)
    rows = [line.split(" | ") for line in said[0].splitlines()[2:]]
    return status, {what.removeprefix("| "): int(now) for what, now, *_ in rows}


def test_rooms_and_phrases_are_counted(root: Path) -> None:
    once = ("whose", "that of", "of which", "beside", "opening of")
    phrases = dict.fromkeys(once, 1) | {"told": 2}
    limits = dict.fromkeys((*ROOMS, RATIO), 100)
    set_limits(root, **limits, **{f"prose: {phrase}": 9 for phrase in phrases})
    counted = {"a c/one.py": 5, "b": 2, "tests tools": 1, RATIO: 14}
    prose = {f"prose: {phrase}": count for phrase, count in phrases.items()}
    assert run(root) == (0, counted | prose)


def test_what_is_above_its_limit_fails_and_is_named(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root)[0] == 0
    with (root / "a/x.cc").open("a") as file:
        file.write("int y;\n")
    assert run(root)[0] == 1
    assert "a c/one.py: 6; allowed: 5" in capsys.readouterr().err


def test_limits_are_only_lowered(root: Path) -> None:
    set_limits(root, **{"a c/one.py": 4, "b": 9, "tests tools": 1})
    assert run(root, "--lower")[0] == 1
    assert [limit.most for limit in read_limits(root / LIMITS)] == [4, 2, 1]


@pytest.mark.parametrize(("rooms", "number"), [(("b",), 0), (("a", "a/x.cc"), 2)])
def test_a_file_is_in_one_room(root: Path, rooms: tuple[str, ...], number: int) -> None:
    set_limits(root, **dict.fromkeys(rooms, 9))
    with pytest.raises(SystemExit, match=f"a/x.cc is in {number} rooms"):
        run(root)


def test_without_git_nothing_is_held(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(root / ".git")
    assert main([], root) == 0
    assert "skipped: " in capsys.readouterr().err


def test_code_is_no_prose() -> None:
    assert prose_of("a.cc", 'f("whose");  // told\n').strip() == "told"
    assert prose_of("a.py", 'f("whose")  # told\n').strip() == "told"
    assert prose_of("a.json", "whose") == ""
