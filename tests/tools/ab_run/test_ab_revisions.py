# SPDX-License-Identifier: MIT
"""tools/ab on revisions of a real repository, with a CMake that compiles nothing."""

import shutil
import signal
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import stub_checkout
from fake_program import text_of
from processes import wait_until
from reports.command import status_of
from reports.compare.ab_record import load, sha256_of
from reports.compare.noise import load_noise
from stub_checkout import ROOT, git, write_script
from tools.ab_run.main import main

# A build copies the program from the sources of the revision.
CMAKE = """#!/bin/sh
echo "$(basename "$PWD")|$CCACHE_BASEDIR|$CCACHE_NOHASHDIR|$*" >>"$STUB_LOG"
[ "$1" = --build ] || exit 0
if [ -n "$STUB_WAIT" ]; then
  : >"$STUB_WAIT"
  sleep 600
fi
[ -e broken ] && echo "program.cc:1: error: broken" && exit 1
[ "$2" = --preset ] || exec cp program "$2/$4"
mkdir -p build/release/benchmarks && cp program build/release/benchmarks/trainbench
"""
FAST = {"a": 100.0}
PAIRS = "--max_pairs=6"  # the fewest for one row


@dataclass(frozen=True)
class Checkout(stub_checkout.Checkout):
    patch: pytest.MonkeyPatch
    captured: pytest.CaptureFixture[str]

    def git(self, *arguments: str) -> str:
        return git(self.root, *arguments)

    def commit(self, rows: dict[str, float], *, broken: bool = False) -> str:
        """Commits a program with these rows; returns the revision."""
        write_script(self.root / "program", text_of({"rows": rows}))
        if broken:
            (self.root / "broken").touch()
        self.git("add", ".")
        self.git("commit", "--quiet", "--message=a")
        return self.git("rev-parse", "HEAD")

    def ab(self, *flags: str, status: int = 0) -> tuple[str, str]:
        """Returns the output and the errors of a call with this exit status, without
        starting Python."""
        with self.patch.context() as patch:
            patch.setattr("tools.ab_run.main.ROOT", self.root)
            patch.chdir(self.stubs)
            for name, value in self.environment().items():
                patch.setenv(name, value)
            ended = status_of("tools/ab", main, [*flags])
        out, err = self.captured.readouterr()
        assert ended == status, err
        return out, err

    def builds(self) -> list[str]:
        """Returns the source trees of the builds, in order."""
        logged = self.log() if (self.stubs / "log").exists() else []
        calls = [line.split("|") for line in logged]
        return [call[0] for call in calls if call[-1].startswith("--build")]


@pytest.fixture
def checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Checkout:
    root, stubs = tmp_path / "check out", tmp_path / "stubs"
    ignored = shutil.ignore_patterns("__pycache__", "*.cc", "*.h", "reference")
    for folder in ("tools/lib", "tools/ab_run", "reports"):
        shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
    (root / "fixtures").mkdir()
    shutil.copy(ROOT / "fixtures/counters.md", root / "fixtures")
    shutil.copy(ROOT / "tools" / "ab", root / "tools" / "ab")
    (root / "tools" / "requirements").mkdir()
    (root / "tools" / "requirements" / "python.txt").write_text("numpy\n")
    (root / "CMakePresets.json").touch()  # it is not an installation
    (root / ".gitignore").write_text("/build/\n/results/\n/.venv/\n")
    write_script(
        root / "tools" / "setup", '#!/bin/sh\necho "setup $PWD" >>"$STUB_LOG"\n'
    )
    write_script(root / ".venv/bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    write_script(stubs / "cmake", CMAKE)
    made = Checkout(root, stubs, monkeypatch, capsys)
    made.git("init", "--quiet")
    made.commit(FAST)
    return made


def test_a_slower_revision_is_found(checkout: Checkout) -> None:
    base = checkout.git("rev-parse", "HEAD")
    new = checkout.commit({"a": 120.0})
    out, _ = checkout.ab("HEAD~1", "HEAD", PAIRS, status=1)
    assert "REGRESSED" in out
    assert checkout.builds() == [base[:12], new[:12]]
    (directory,) = (checkout.root / "results").iterdir()
    assert directory.name.startswith(f"ab-{base[:12]}-{new[:12]}-")
    run = load(directory)
    assert (run.base.label, run.base.revision) == ("HEAD~1", base)
    assert (run.new.label, run.new.revision) == ("HEAD", new)
    # It was built from that revision, with our LibTorch and a shared cache.
    tree = checkout.root / "build/ab/trees" / base[:12]
    assert git(tree, "status", "--porcelain") == ""
    python = checkout.root / ".venv/bin/python"
    assert f"{tree}|true|--preset release -DTRAINBENCH_PYTHON={python}" in (
        "\n".join(checkout.log())
    )


@pytest.fixture
def project(checkout: Checkout, tmp_path: Path) -> Checkout:
    """Two revisions of another repository, with experiments in its folder my/bench."""
    mine = replace(checkout, root=tmp_path / "mine")
    (mine.root / "my/bench").mkdir(parents=True)
    (mine.root / "my/bench/CMakeLists.txt").touch()
    mine.git("init", "--quiet")
    mine.commit(FAST)
    mine.commit({"a": 120.0})
    prefix = checkout.root / "build/release"
    prefix.mkdir(parents=True)
    (prefix / "trainbench-config.cmake").touch()
    return mine


def test_revisions_of_another_repository(checkout: Checkout, project: Checkout) -> None:
    flags = (f"--project={project.root / 'my/bench'}", "HEAD~1", "HEAD", PAIRS)
    out, _ = checkout.ab(*flags, "--target=gelu", status=1)
    assert "REGRESSED" in out
    head = project.git("rev-parse", "HEAD")
    tree = checkout.root / "build/ab/projects" / head[:12] / "tree"
    made = tree.parent / "build-my%2Fbench"  # my-bench has another
    log = "\n".join(checkout.log())
    assert f"-S {tree}/my/bench -B {made} -DCMAKE_BUILD_TYPE=Release" in log
    assert f"-Dtrainbench_DIR={checkout.root}/build/release" in log
    assert (made / "gelu").exists()
    # Git reports no change in its tree.
    assert git(tree, "status", "--porcelain") == ""
    (directory,) = (checkout.root / "results").iterdir()
    new = load(directory).new
    assert new.revision == head
    # The same commit with another trainbench counts as another side.
    assert new.identity == f"sha256:{sha256_of(made / 'gelu')}"
    # The default is the name of its folder.
    checkout.ab(*flags, "--same=HEAD", status=2)
    checkout.ab(*flags[:1], "--same=HEAD", "--pairs=6")
    assert (made / "bench").exists()


def test_a_project_that_cannot_be_built_is_named(
    checkout: Checkout, project: Checkout
) -> None:
    def refused(*flags: str) -> str:
        _, err = checkout.ab("HEAD~1", "HEAD", *flags, status=2)
        return err

    bench = f"--project={project.root / 'my/bench'}"
    assert "which has no CMakeLists.txt" in refused(f"--project={project.root}")
    nowhere = f"--prefix={project.root}"
    assert "trainbench-config.cmake" in refused(bench, nowhere)
    assert "belong to --project" in refused(nowhere)
    changed = project.root / "program"
    changed.write_text("")
    assert "uncommitted changes" in refused(bench)


def test_same_writes_a_noise_floor(checkout: Checkout) -> None:
    out, err = checkout.ab("--same", "HEAD", "--pairs=7")
    path = checkout.root / "results" / "noise-fake-cpu.json"
    assert f"wrote {path}\n" in err
    noise = load_noise(path)
    assert noise.revision == checkout.git("rev-parse", "HEAD")
    assert noise.context["host_name"] == "fake"
    assert noise.rows["a"].pairs == 7
    assert 0 < noise.rows["a"].floor < 0.01
    assert 0 < noise.rows["a"].spread < 0.01
    assert " to " in out
    assert len(checkout.builds()) == 1


def test_a_tree_is_used_again_and_mended_if_need_be(checkout: Checkout) -> None:
    checkout.ab("HEAD", "HEAD", PAIRS)
    (tree,) = (checkout.root / "build/ab/trees").iterdir()
    kept = tree / "build" / "kept"
    kept.touch()
    checkout.ab("HEAD", "HEAD", PAIRS)
    assert kept.exists()
    (tree / "program").write_text("changed")
    checkout.ab("HEAD", "HEAD", PAIRS)
    assert not kept.exists()
    (tree / "benchmarks").mkdir()
    (tree / "benchmarks" / "another.cc").touch()  # it would be built, too
    kept.touch()
    checkout.ab("HEAD", "HEAD", PAIRS)
    assert not kept.exists() and not (tree / "benchmarks").exists()
    checkout.git("worktree", "lock", str(tree))  # as an interrupted call leaves it
    shutil.rmtree(tree)  # git still has it registered
    checkout.ab("HEAD", "HEAD", PAIRS)
    (tree / ".git").unlink()  # as after an interrupted `git worktree add`
    checkout.ab("HEAD", "HEAD", PAIRS)


def test_other_requirements_mean_a_set_up_of_its_own(checkout: Checkout) -> None:
    requirements = checkout.root / "tools" / "requirements" / "python.txt"
    requirements.write_text("numpy scipy\n")
    checkout.commit(FAST)
    checkout.ab("HEAD~1", "HEAD", PAIRS)
    older = checkout.git("rev-parse", "HEAD~1")[:12]
    tree = checkout.root / "build/ab/trees" / older
    log = "\n".join(checkout.log())
    assert f"setup {tree}\n" in log
    assert f"-DTRAINBENCH_PYTHON={tree}/.venv/bin/python" in log


def test_a_failed_build_shows_the_end_of_its_log(checkout: Checkout) -> None:
    checkout.commit({"a": 90.0}, broken=True)
    out, err = checkout.ab("HEAD~1", "HEAD", PAIRS, status=3)
    assert "program.cc:1: error: broken\n---\n" in err
    assert "building HEAD: cmake --build --preset release" in err.splitlines()[-1]
    assert out == ""


def test_a_revision_that_cannot_set_itself_up(checkout: Checkout) -> None:
    checkout.git("rm", "--quiet", "tools/setup", "tools/requirements/python.txt")
    older = checkout.commit(FAST)
    checkout.git("checkout", "--quiet", "HEAD~1")
    _, err = checkout.ab(older, "HEAD", PAIRS, status=3)
    assert "tools/setup: No such file or directory" in err.splitlines()[-1]


def test_an_interrupted_build_leaves_nothing_broken(checkout: Checkout) -> None:
    started = checkout.stubs / "started"
    flags = ("HEAD", "HEAD", PAIRS)
    with checkout.started("ab", *flags, STUB_WAIT=str(started)) as process:
        assert wait_until(lambda: started.exists() or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in err
    checkout.ab("HEAD", "HEAD", PAIRS)


def test_an_unknown_revision_is_named_before_any_build(checkout: Checkout) -> None:
    for revisions in (["HEAD", "nonesuch"], ["nonesuch", "HEAD"], ["--same=nonesuch"]):
        _, err = checkout.ab(*revisions, status=2)
        assert err.splitlines() == ["tools/ab: unknown revision 'nonesuch'"]
    assert checkout.builds() == []


def test_uncommitted_changes_are_named_before_any_build(checkout: Checkout) -> None:
    (checkout.root / "new file").write_text("git does not know it")
    for name in ("python.txt", "lean.txt", "b.txt", "c.txt"):
        path = checkout.root / "tools" / "requirements" / name
        path.write_text("a")
        checkout.git("add", str(path))
    _, err = checkout.ab("HEAD", "HEAD", status=2)
    (line,) = err.splitlines()
    assert "uncommitted changes would not be measured: tools/requirements/b.txt" in line
    assert "and 1 more; commit them" in line
    assert "--binaries" in line
    assert checkout.builds() == []
    # A bisection gives full hashes, and an edit meanwhile does not end it.
    checkout.ab(*[checkout.git("rev-parse", "HEAD")] * 2, PAIRS)


def test_outside_of_git_there_are_no_revisions(checkout: Checkout) -> None:
    shutil.rmtree(checkout.root / ".git")
    _, err = checkout.ab("HEAD", "HEAD", status=2)
    assert f"{checkout.root} is not a git checkout" in err
    assert checkout.builds() == []
