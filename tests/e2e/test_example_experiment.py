# SPDX-License-Identifier: MIT
"""The example of CONTRIBUTING.md, as the only file of a separate repository.

trainbench is installed from this build; the other repository finds it as a package.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest

import processes
from built import built
from null_gpu import FLAGS, null_gpu
from program import Json, Program, load, measured
from reports.compare.ab_record import load as load_ab
from stub_checkout import example, git

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(mine CXX)
find_package(trainbench REQUIRED)
find_package(trainbench 0.1 REQUIRED) # as a dependency of a dependency
trainbench_add_benchmarks(mine gelu.cc)
trainbench_add_benchmarks(another "${CMAKE_CURRENT_SOURCE_DIR}/gelu.cc")
"""
TOOLS = Path("share/trainbench/tools")  # of an installed package
RUN = ("--suite=smoke", "--benchmark_min_time=0.01")


def run(*command: str | Path, cwd: Path, status: int = 0) -> str:
    """Runs a command that finds the Python of this test; returns what it printed."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = os.environ | {"PATH": path}
    return processes.run(*command, status=status, cwd=cwd, env=env).stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repository = tmp_path_factory.mktemp("mine")
    project = repository / "bench"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(PROJECT)
    (project / "gelu.cc").write_text(example(), encoding="utf-8")
    git(repository, "init", "--quiet")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message=one")
    return repository


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Installs trainbench; returns the directory."""
    build = built("TRAINBENCH_BUILD")
    if not (build / "trainbench-config.cmake").exists() or not shutil.which("ninja"):
        pytest.skip("TRAINBENCH_BUILD is no build that exports a package")
    prefix = tmp_path_factory.mktemp("prefix")
    for component in ("dev", "runtime", "tools"):
        run(
            *("cmake", "--install", build, "--component", component),
            *("--prefix", prefix),
            cwd=prefix,
        )
    return prefix


@pytest.fixture(scope="module")
def compared(
    repository: Path, prefix: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Compares the repository's commit with a slower one, in a copy of it; returns the
    directory of both."""
    directory = tmp_path_factory.mktemp("compared")
    mine = shutil.copytree(repository, directory / "mine")
    source = mine / "bench" / "gelu.cc"
    text = source.read_text(encoding="utf-8")
    once = "at::gelu(x_, p_.kind);\n    state"
    assert once in text
    again = f"for (int i = 0; i < 8; ++i) {once}"
    source.write_text(text.replace(once, again))
    git(mine, "commit", "--quiet", "--all", "--message=slower")
    run(
        *(prefix / TOOLS / "ab", f"--project={mine / 'bench'}", "--target=mine"),
        *("HEAD~1", "HEAD", "--out=ab", "--threshold=20", "--max_pairs=8"),
        *(*RUN, "--elements=64Ki", "--threads=1", "--benchmark_filter=none|tanh"),
        cwd=directory,
        status=1,
    )
    return directory


@pytest.fixture(scope="module")
def program(
    repository: Path, compared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Program:
    """Returns the program that tools/ab built, since a build takes 15 s."""
    commit = git(repository, "rev-parse", "HEAD")
    builds = compared / "build/ab/projects"
    (made,) = (one for one in builds.rglob("mine") if commit[:8] in str(one))
    return Program(made, tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def document(program: Program) -> Json:
    return program.measure(*RUN, "--elements=4Ki,64Ki")


def test_the_installed_program_finds_its_libraries(prefix: Path) -> None:
    assert run(prefix / "bin/trainbench", "--benchmark_list_tests", cwd=prefix)


def test_cmake_finds_the_package(
    repository: Path, prefix: Path, tmp_path: Path
) -> None:
    run(
        *("cmake", "-G", "Ninja", "-S", repository / "bench", "-B", tmp_path),
        *("-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={prefix}"),
        cwd=repository,
    )
    run("ninja", "-n", "mine", "another", cwd=tmp_path)


def test_its_rows_are_checked_and_measured(document: Json) -> None:
    rows = measured(document)
    assert [row["name"] for row in rows] == [
        f"gelu/{kind}/elements:{n}" for kind in ("none", "tanh") for n in (4096, 65536)
    ]
    for row in rows:
        assert row["p50_us"] > 0 and row["bytes_per_second"] > 0
        predicted = row["predicted_peak_bytes"]
        assert row["peak_bytes"] == pytest.approx(predicted, rel=0.02)
        assert row["parameters"]["kind"] in ("none", "tanh")


def test_it_says_what_it_asks_and_expects(program: Program, document: Json) -> None:
    (asked,) = document["questions"]
    assert asked["question"].startswith("What does exact GELU cost")
    (expected,) = document["expectations"]
    assert expected["experiment"] == "gelu"
    listed = program.run("--list").stdout
    assert asked["question"][:40] in listed
    assert "kind=none,tanh elements=1Mi,32Mi" in listed


def test_its_results_have_its_own_revision(repository: Path, document: Json) -> None:
    revision = git(repository, "rev-parse", "HEAD")
    assert document["context"]["git_revision"] == revision


def test_it_runs_on_a_gpu(program: Program) -> None:
    program.run(*RUN, *FLAGS, "--benchmark_out=gpu.json", env=null_gpu())
    rows = measured(load(program.directory / "gpu.json"))
    assert [row["parameters"]["kind"] for row in rows] == ["none", "tanh"]


def test_installed_commands_read_it(
    program: Program, document: Json, prefix: Path
) -> None:
    def call(tool: str, *arguments: str) -> str:
        return run(prefix / TOOLS / tool, *arguments, cwd=program.directory)

    # The tools must not import this file, although they run in its directory.
    (program.directory / "html.py").write_text("raise SystemExit('not yours')")
    asked = document["questions"][0]["question"]
    assert asked in call("answers", "a.json")
    assert "gelu/tanh/elements:4096" in call("compare", "a.json", "a.json")
    call("report", "a.json", "-o", "page")
    (html,) = (program.directory / "page").glob("*.html")
    text = html.read_text()
    assert 'id="gelu"' in text and "What does exact GELU cost" in text
    assert "gelu: time" in text


def test_two_commits_of_its_repository_are_compared(
    repository: Path, compared: Path
) -> None:
    found = load_ab(compared / "ab")
    assert found.base.revision == git(repository, "rev-parse", "HEAD")
    assert found.new.revision == git(compared / "mine", "rev-parse", "HEAD")
    assert found.rows == [f"gelu/{kind}/elements:65536" for kind in ("none", "tanh")]
    rows = load(compared / "ab/result.json")["comparison"]["rows"]
    assert {row["verdict"] for row in rows} == {"REGRESSED"}


def test_an_injected_delay_is_in_its_times(program: Program, document: Json) -> None:
    flags = (*RUN, "--elements=4Ki,64Ki", "--injected_delay_percent=1000")
    delayed = measured(program.measure(*flags))
    for after, before in zip(delayed, measured(document), strict=True):
        assert after["p50_us"] > 2 * before["p50_us"]
