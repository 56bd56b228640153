# SPDX-License-Identifier: MIT
"""The example of CONTRIBUTING.md: one file in benchmarks/ is a whole experiment.

The test takes the file out of the document, compiles and links it as the build would
do, beside the experiments that are there, and touches no source that others read.
"""

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from contributing import example
from program import Json, Program, binary, load, measured
from reports.pages.__main__ import main as report

ROOT = Path(__file__).resolve().parents[2]
TEXTS = "trainbench_experiments_experiment_texts.cc"


def build_directory() -> Path:
    directory = Path(os.environ.get("TRAINBENCH_BUILD", "no build"))
    if not (directory / "build.ninja").exists() or shutil.which("ninja") is None:
        pytest.skip("TRAINBENCH_BUILD is no build by Ninja")
    return directory


def run(command: str, directory: Path) -> str:
    done = subprocess.run(
        command, shell=True, cwd=directory, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def compile_like(build: Path, model: str, source: Path) -> Path:
    """Compiles `source` as the build compiles the file `model`."""
    commands = json.loads((build / "compile_commands.json").read_text())
    (entry,) = [one for one in commands if one["file"].endswith(f"/{model}")]
    made = source.with_suffix(".o")
    words = shlex.split(entry["command"])
    words[words.index("-o") + 1] = str(made)
    words[words.index("-c") + 1] = str(source)
    run(shlex.join(words), build)
    return made


def texts_of(directory: Path, experiment: Path) -> Path:
    """The generated source with the questions of all experiments."""
    sources = [*sorted((ROOT / "benchmarks").glob("*.cc")), experiment]
    made = directory / TEXTS
    files = "|".join(map(str, sources))
    script = ROOT / "tools" / "cmake" / "ExperimentTexts.cmake"
    run(
        shlex.join(
            ["cmake", f"-DOUTPUT={made}", f"-DFILES={files}", "-P", str(script)]
        ),
        directory,
    )
    return made


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    build = build_directory()
    directory = tmp_path_factory.mktemp("benchmarks")
    experiment = directory / "gelu.cc"
    experiment.write_text(example(), encoding="utf-8")
    compiled = compile_like(build, "unity/trainbench_experiments_rest_1.cc", experiment)
    texts = compile_like(build, TEXTS, texts_of(directory, experiment))
    usual = binary("TRAINBENCH_BINARY").resolve()
    target = str(usual.relative_to(build.resolve()))
    link = run(f"ninja -t commands {shlex.quote(target)}", build).splitlines()[-1]
    own = directory / "trainbench"
    built_texts = [word for word in link.split() if word.endswith(f"/{TEXTS}.o")]
    link = link.replace(built_texts[0], f"{shlex.quote(str(texts))} {compiled}")
    link = link.replace(f"-o {target} ", f"-o {shlex.quote(str(own))} ")
    assert str(own) in link, link
    run(link, build)
    return Program(own, directory)


@pytest.fixture(scope="module")
def document(program: Program) -> Json:
    done = program.run(
        "--suite=smoke",
        "--benchmark_filter=^gelu/",
        "--benchmark_min_time=0.01",
        "--elements=4Ki,64Ki",
        "--benchmark_out=a.json",
    )
    assert done.code == 0, done.err
    return load(program.directory / "a.json")


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
    assert asked["question"].startswith("What does the exact GELU cost")
    (expected,) = document["expectations"]
    assert expected["experiment"] == "gelu"
    listed = program.run("--list").out
    assert asked["question"][:40] in listed
    assert "kind=none,tanh elements=1Mi,32Mi" in listed


def test_an_axis_of_its_own_is_checked(program: Program) -> None:
    done = program.run("--kind=sigmoid", "--benchmark_list_tests")
    assert done.code == 2
    assert "--kind is 'sigmoid'" in done.err and "none, tanh" in done.err


def test_the_page_shows_it(program: Program, document: Json) -> None:
    page = program.directory / "page"
    assert report([str(program.directory / "a.json"), "-o", str(page)]) == 0
    (html,) = page.glob("*.html")
    text = html.read_text()
    assert 'id="gelu"' in text and "What does the exact GELU cost" in text
    assert "Time of each case" in text
