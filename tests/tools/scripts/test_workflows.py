# SPDX-License-Identifier: MIT
"""The workflows of GitHub: what they run is there, and what they may do is little."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
DIRECTORY = ROOT / ".github/workflows"
FILES = ["ci.yml", "pull-request.yml"]
# Of each action the major version that the workflows were written for.
ACTIONS = {
    "actions/checkout@v4",
    "actions/cache@v4",
    "actions/cache/restore@v4",
    "actions/upload-artifact@v4",
    "actions/download-artifact@v4",
    "actions/github-script@v7",
}
Yaml = dict[Any, Any]


def workflow(name: str) -> Yaml:
    loaded: Yaml = yaml.safe_load((DIRECTORY / name).read_text(encoding="utf-8"))
    return loaded


def jobs(name: str) -> dict[str, Yaml]:
    found: dict[str, Yaml] = workflow(name)["jobs"]
    return found


def steps(name: str) -> list[Yaml]:
    return [step for job in jobs(name).values() for step in job["steps"]]


def scripts(name: str) -> list[str]:
    return [step["run"] for step in steps(name) if "run" in step]


def step_of(name: str, title: str) -> Yaml:
    (found,) = [step for step in steps(name) if step.get("name") == title]
    return found


def test_there_are_no_others() -> None:
    assert sorted(path.name for path in DIRECTORY.iterdir()) == FILES


@pytest.mark.parametrize("name", FILES)
def test_each_job_is_bounded_and_its_machine_is_named(name: str) -> None:
    for job in jobs(name).values():
        assert job["runs-on"] == "ubuntu-24.04"
        assert job["timeout-minutes"] <= 120


@pytest.mark.parametrize("name", FILES)
def test_only_known_actions(name: str) -> None:
    used = {step["uses"] for step in steps(name) if "uses" in step}
    assert used and used <= ACTIONS


@pytest.mark.parametrize("name", FILES)
def test_the_events_are_those_without_secrets(name: str) -> None:
    # YAML 1.1 reads the key `on` as true.
    events = set(workflow(name)[True])
    assert "pull_request" in events
    assert events <= {"push", "pull_request"}


@pytest.mark.parametrize("name", FILES)
def test_every_command_of_ours_is_there_and_can_be_run(name: str) -> None:
    text = "\n".join(scripts(name))
    commands = set(re.findall(r"(?<![\w./-])((?:tools|\.ci)/[\w./-]+)", text))
    assert commands
    assert [c for c in sorted(commands) if not os.access(ROOT / c, os.X_OK)] == []


def test_the_commands_are_those_that_a_person_types() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = [line for script in scripts("ci.yml") for line in script.splitlines()]
    typed = [line for line in lines if line.startswith("tools/")]
    assert typed == ["tools/setup", "tools/test", "tools/bench --suite=smoke"]
    for command in ("tools/test", "tools/bench", "--suite=smoke"):
        assert command in readme
    measure = step_of("pull-request.yml", "Measure both")["run"]
    assert "tools/ab " in measure
    verdict = step_of("pull-request.yml", "Write the verdict")["run"]
    assert "tools/compare results/ab --markdown" in verdict


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_pasted_into_a_script(name: str) -> None:
    """What an event brings, a branch's name, say, could be code."""
    texts = [
        *scripts(name),
        *(s["with"].get("script", "") for s in steps(name) if "with" in s),
    ]
    assert [text for text in texts if "${{" in text] == []


@pytest.mark.parametrize("name", FILES)
def test_a_token_may_only_read(name: str) -> None:
    assert workflow(name)["permissions"] == {"contents": "read"}
    granted = {
        job: j["permissions"] for job, j in jobs(name).items() if "permissions" in j
    }
    if name == "pull-request.yml":
        assert granted == {"comment": {"pull-requests": "write"}}
    else:
        assert granted == {}


def test_what_may_write_runs_no_code_of_the_pull_request() -> None:
    comment = jobs("pull-request.yml")["comment"]
    assert [step.get("uses", "run") for step in comment["steps"]] == [
        "actions/download-artifact@v4",
        "actions/github-script@v7",
    ]
    assert comment["needs"] == "compare"
    own = "github.event.pull_request.head.repo.full_name == github.repository"
    assert f"&& {own}" in " ".join(comment["if"].split())


@pytest.mark.parametrize("name", FILES)
def test_no_checkout_leaves_its_token_behind(name: str) -> None:
    checkouts = [
        s for s in steps(name) if s.get("uses", "").startswith("actions/checkout")
    ]
    assert len(checkouts) == 1
    assert checkouts[0]["with"]["persist-credentials"] is False


@pytest.mark.parametrize("name", FILES)
def test_a_container_has_git_before_the_checkout_and_trusts_it_after(name: str) -> None:
    for job in jobs(name).values():
        if "container" not in job:
            continue
        assert job["container"] == "debian:bookworm"
        titles = [step.get("name", step.get("uses")) for step in job["steps"]]
        assert titles[:3] == ["Git", "actions/checkout@v4", "Trust the checkout"]
        assert "git" in job["steps"][0]["run"].split()


def test_both_caches_are_of_the_same_things() -> None:
    for title in ("Cache LibTorch", "Cache the compiler's results"):
        ours, theirs = (step_of(name, title)["with"] for name in FILES)
        assert ours["path"] == theirs["path"]
        assert ours.get("restore-keys") == theirs.get("restore-keys")
    key = step_of("ci.yml", "Cache LibTorch")["with"]["key"]
    assert key == step_of("pull-request.yml", "Cache LibTorch")["with"]["key"]
    for pattern in re.findall(r"'([^']+)'", key):
        assert list(ROOT.glob(pattern)), pattern
    for name in FILES:
        kept = step_of(name, "Cache the compiler's results")["with"]["path"]
        (directory,) = {
            job["env"]["CCACHE_DIR"] for job in jobs(name).values() if "env" in job
        }
        assert kept == directory


def test_what_is_measured_does_not_change_the_checkout() -> None:
    """Or else the revision would not be that of the sources."""
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {"/results/", "/.venv/"} <= set(ignored)
    written = re.findall(
        r"(?:--out=|>)([\w./]+)", "\n".join(scripts("pull-request.yml"))
    )
    assert written
    assert all(path.startswith("results/") for path in written)


# --- the steps, with stubs in place of what takes long ------------------------

AB = """#!/bin/sh
echo "ab $*" >>log
exit "$STUB_AB"
"""
COMPARE = """#!/bin/sh
echo "compare $*" >>log
printf '%s' "$STUB_TABLE"
exit "$STUB_AB"
"""


def run_step(title: str, directory: Path, **environment: str) -> int:
    """As the runner does: bash -eo pipefail, outputs in files."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    files = {
        variable: str(directory / variable)
        for variable in ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
    }
    done = subprocess.run(
        [bash, "--noprofile", "--norc", "-eo", "pipefail", "-c"]
        + [step_of("pull-request.yml", title)["run"]],
        cwd=directory,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **files, **environment},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return done.returncode


def stubs(directory: Path) -> None:
    for name, text in {"ab": AB, "compare": COMPARE}.items():
        path = directory / "tools" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)


@pytest.mark.parametrize("status", [0, 1, 2, 3])
@pytest.mark.parametrize("table", ["### verdict\n", ""])
def test_the_verdict_is_told_and_decides(
    tmp_path: Path, status: int, table: str
) -> None:
    stubs(tmp_path)
    stub = {"STUB_AB": str(status), "STUB_TABLE": table}
    shas = {"BASE_SHA": "b" * 40, "HEAD_SHA": "c" * 40}
    assert run_step("Measure both", tmp_path, **stub, **shas) == 0
    assert (tmp_path / "GITHUB_OUTPUT").read_text() == f"status={status}\n"
    told = {"STATUS": str(status)}
    assert run_step("Write the verdict", tmp_path, **stub, **told) == 0
    wanted = table or f"No comparison: tools/ab ended with status {status}.\n"
    assert (tmp_path / "results/comparison.md").read_text() == wanted
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text() == wanted
    assert run_step("Fail if something became slower", tmp_path, **told) == status
    assert (tmp_path / "log").read_text().splitlines() == [
        f"ab {'b' * 40} {'c' * 40} --out=results/ab "
        "--benchmark_filter=^(model_size|attention_scaling|optimizer)/ "
        "--max_minutes=40",
        "compare results/ab --markdown",
    ]


def test_the_base_is_where_the_branches_part(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")

    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        return subprocess.check_output(
            ["git", *identity, *arguments], cwd=tmp_path, text=True
        ).strip()

    def commit(message: str) -> str:
        git("commit", "--quiet", "--allow-empty", f"--message={message}")
        return git("rev-parse", "HEAD")

    git("init", "--quiet", "--initial-branch=main")
    base = commit("base")
    git("checkout", "--quiet", "-b", "change")
    head = commit("head")
    git("checkout", "--quiet", "main")
    target = commit("target")
    shas = {"TARGET_SHA": target, "HEAD_SHA": head}
    assert run_step("Find the base", tmp_path, **shas) == 0
    assert (tmp_path / "GITHUB_ENV").read_text() == f"BASE_SHA={base}\n"
    # Without one the job ends.
    assert run_step("Find the base", tmp_path, TARGET_SHA="none", HEAD_SHA=head) != 0


# Calls the comment's script with a GitHub that has some comments, and prints the calls.
GITHUB = """
const calls = [];
const call = (name) => async (given) => { calls.push([name, given]); };
const issues = {
  listComments: 'list', updateComment: call('update'), createComment: call('create'),
};
const github = {rest: {issues}, paginate: async () => JSON.parse(process.argv[1])};
const context = {repo: {owner: 'o', repo: 'r'}, issue: {number: 7}};
(async () => { %s })().then(() => console.log(JSON.stringify(calls)));
"""
MARKER = "<!-- trainbench: comparison -->\n"


def comment(directory: Path, text: str, existing: list[Yaml]) -> tuple[str, Yaml]:
    """The one call that changes something, and what it was given."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    script = jobs("pull-request.yml")["comment"]["steps"][1]["with"]["script"]
    (directory / "comparison.md").write_text(text)
    printed = subprocess.check_output(
        [node, "-e", GITHUB % script, json.dumps(existing)], cwd=directory, text=True
    )
    ((name, given),) = json.loads(printed)
    return name, given


def test_there_is_one_comment_which_is_updated(tmp_path: Path) -> None:
    own = {"id": 3, "body": f"{MARKER}old", "user": {"type": "Bot"}}
    # Neither a person who quotes the mark nor another bot is overwritten.
    others = [
        {"id": 1, "body": f"{MARKER}mine", "user": {"type": "User"}},
        {"id": 2, "body": "other", "user": {"type": "Bot"}},
    ]
    target = {"owner": "o", "repo": "r"}
    assert comment(tmp_path, "### good\n", others) == (
        "create",
        {**target, "issue_number": 7, "body": f"{MARKER}### good\n"},
    )
    assert comment(tmp_path, "### good\n", [*others, own]) == (
        "update",
        {**target, "comment_id": 3, "body": f"{MARKER}### good\n"},
    )


def test_a_comment_is_not_longer_than_github_takes(tmp_path: Path) -> None:
    _, given = comment(tmp_path, "a" * 70000, [])
    assert len(given["body"]) < 65536
    assert given["body"].endswith("(the rest is in the run's summary)")
