# SPDX-License-Identifier: MIT
"""tools/prove: its commands, their order, and the handling of failures."""

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from golden import check_golden, refusals
from processes import is_running, run, started, wait_until
from stub_checkout import ROOT, TOOLS, write_script
from tools.prove import __main__ as prove
from tools.prove.__main__ import main
from tools.prove.stages import STAGES, Stage
from tools.prove.steps import Step, cases

# Runs until it is ended, unless it resumes from a result.
SLOW = """#!/bin/bash
for flag in "$@"; do
  case $flag in
    --benchmark_out=*) out=${flag#*=} ;;
    --resume=*) resumed=true ;;
    --benchmark_list_tests)
      [[ $* != *--broken* ]] || { echo no driver >&2; exit 1; }
      printf 'a/own\\na/sdpa.x\\n' && exit ;;
  esac
done
row='{"name": "a", "run_type": "iteration"}'
echo "{\\"context\\": {\\"a\\": 1}, \\"benchmarks\\": [$row], \\"skipped\\": []," \\
  "\\"errors\\": [], \\"complete\\": ${resumed:-false}}" >"$out"
[[ $resumed || $* == *--once* ]] || sleep 600
"""


def told(seen: Any) -> list[str]:
    return [f"{len(seen.steps)} steps"]


def shell(text: str, **others: Any) -> Step:
    return Step(("/bin/sh", "-c", text), **others)


def stage(number: int, *steps: Step, limit: float = 30, **others: Any) -> Stage:
    return Stage(number, f"stage{number}", limit, told, steps, **others)


@dataclass(frozen=True)
class Machine:
    folder: Path

    @property
    def counted(self) -> str:
        """A command that appends one byte per run."""
        return f"printf x >>'{self.folder}/count'"

    def count(self) -> int:
        return len((self.folder / "count").read_text())

    def prove(self, *stages: Stage, flags: tuple[str, ...] = ()) -> int:
        given = (f"--pack={self.folder}", f"--into={self.folder}/into")
        return main((*given, f"--state={self.folder}/state", *flags), stages)

    def parts(self) -> dict[str, Any]:
        proof = json.loads((self.folder / "into/proof.json").read_text())
        return dict(proof["parts"])

    def statuses(self) -> dict[str, str]:
        return {key: part["status"] for key, part in self.parts().items()}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    write_script(tmp_path / "bin/trainbench", SLOW)
    return Machine(tmp_path)


def test_no_end_of_a_stage_ends_the_others(machine: Machine) -> None:
    left = "sleep 600 & echo $! >{state}/pid; wait"
    status = machine.prove(
        stage(0, shell("echo no memory; exit 3"), shell("echo on")),
        stage(1, shell(left), limit=3),
        stage(2, Step(("/nowhere/program",))),
        stage(3, shell("", programs=("no-such-program",))),
        stage(4, shell("true"), shell("", modules=("no_such_module",))),
        stage(5, shell("sleep 600", seconds=0.5), shell("echo on")),
    )
    assert status == 1
    expected = ["failed", "timed out", "failed", "skipped", "good", "timed out"]
    assert list(machine.statuses().values()) == expected
    parts = machine.parts()
    assert [step["status"] for step in parts["0"]["steps"]] == [3, 0]
    assert parts["0"]["look_at"] == ["2 steps", "sh ended with 3: no memory"]
    assert parts["3"]["look_at"] == ["no no-such-program here"]
    assert parts["5"]["steps"][1]["status"] == 0
    pid = (machine.folder / "state/pid").read_text().strip()
    assert not is_running(pid), "what a stage started outlives it"


def test_a_call_goes_on_where_the_last_had_no_time(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    stages = (
        stage(0, shell(machine.counted)),
        stage(1, shell(machine.counted), limit=100),
        stage(2, shell(machine.counted)),
    )
    assert machine.prove(*stages, flags=("--seconds=1",)) == 0
    assert machine.statuses() == {}
    assert "the next call continues with 0, 1, 2" in capsys.readouterr().out
    assert machine.prove(*stages, flags=("--seconds=50",)) == 0
    assert machine.statuses() == {"0": "good", "2": "good"}
    assert "the next call continues with 1" in capsys.readouterr().out
    for _ in range(2):
        assert machine.prove(*stages, flags=("--seconds=50",)) == 0
    assert machine.statuses() == {"0": "good", "2": "good", "1": "good"}
    assert machine.count() == 3
    machine.prove(*stages, flags=("--again", "--stages=0,2"))
    assert machine.count() == 5
    machine.prove(*stages, flags=("--again", "--seconds=1"))
    assert machine.statuses() == {"0": "good", "2": "good", "1": "good"}
    assert "the next call without --again continues" in capsys.readouterr().out
    machine.prove(*stages)
    assert machine.count() == 8


def test_what_a_killed_call_left_is_run_again_once_and_last(machine: Machine) -> None:
    stages = (stage(0, shell(machine.counted)), stage(1, shell("true")))
    running = {"status": "running", "kills": 0}
    state = machine.folder / "state/proof.json"
    state.parent.mkdir()
    state.write_text(json.dumps({"calls": [], "parts": {"0": running}}))
    assert machine.prove(*stages) == 0
    parts = machine.parts()
    assert parts["1"]["ended"] <= parts["0"]["started"]
    assert parts["0"]["kills"] == 1
    proof = json.loads(state.read_text())
    proof["parts"]["0"]["status"] = "running"
    state.write_text(json.dumps(proof))
    assert machine.prove(*stages) == 1
    assert machine.statuses()["0"] == "killed"
    assert machine.count() == 1


def test_a_suite_that_is_cut_goes_on_in_the_next_call(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    stuck = stage(7, shell("sleep 600"), limit=0.5, goes_on=True)
    suite = stage(8, cases("suite", resumes=True), limit=4, goes_on=True)
    late = stage(9, shell("sleep 600", seconds=0.5), limit=1000, goes_on=True)
    stages = (stuck, suite, late, stage(10, shell("true"), limit=60))
    assert machine.prove(*stages, flags=("--seconds=20",)) == 1
    assert machine.statuses() == {"7": "stuck", "8": "cut"}
    assert "the next call continues with 8, 9, 10, 7" in capsys.readouterr().out
    machine.prove(*stages)
    assert machine.statuses() == {"7": "stuck", "8": "good", "9": "cut", "10": "good"}
    assert "the next call continues with 9\n" in capsys.readouterr().out
    machine.prove(*stages)
    assert machine.statuses()["9"] == "stuck"
    assert "continues" not in capsys.readouterr().out
    (step,) = machine.parts()["8"]["steps"]
    assert step["command"][0] == "bin/trainbench"
    assert "--resume=state/08-stage8/suite.json" in step["command"]


def test_a_filter_leaves_cases_out(machine: Machine) -> None:
    once = cases("once", "a/", "--once")
    for pattern, names in (("-own", r"a/sdpa\.x"), ("own", "a/own")):
        machine.prove(stage(0, once), flags=(f"--filter={pattern}", "--again"))
        (step,) = machine.parts()["0"]["steps"]
        assert step["command"][-1] == f"--benchmark_filter=^({names})$"
        assert "--benchmark_filter=^(a/)" not in step["command"]
    machine.prove(stage(0, once), flags=("--filter=nothing", "--again"))
    assert machine.parts()["0"]["look_at"] == ["--filter leaves no case"]


def test_a_filter_starts_nothing_before_the_first_start(machine: Machine) -> None:
    write_script(machine.folder / "bin/trainbench", '#!/bin/sh\necho "$*" >>"$0.log"')
    machine.prove(STAGES[0], flags=("--filter=nothing",))
    starts = (machine.folder / "bin/trainbench.log").read_text().splitlines()
    assert len(starts) == 2
    assert not any("--benchmark_list_tests" in start for start in starts)


def test_a_filter_hides_no_program_that_cannot_start(machine: Machine) -> None:
    broken = cases("x", "a/", flags="--broken")
    assert machine.prove(stage(0, broken), flags=("--filter=-own",)) == 1
    assert "no driver" in machine.parts()["0"]["steps"][0]["note"]


def test_a_reading_that_fails_costs_nothing_else(machine: Machine) -> None:
    def wrong(_: Any) -> list[str]:
        raise KeyError("lost")

    assert machine.prove(Stage(0, "a", 30, wrong, (shell("true"),))) == 0
    assert machine.parts()["0"]["look_at"] == ["not readable: KeyError('lost')"]


def test_a_signal_keeps_what_there_is(machine: Machine) -> None:
    script = (
        "import sys; sys.path[:0] = sys.argv[1:3]\n"
        "from test_prove_runner import Machine, Path, shell, stage\n"
        "m = Machine(Path(sys.argv[3]))\n"
        "slow = shell('touch {state}/begun; sleep 600')\n"
        "sys.exit(m.prove(stage(0, shell('true')), stage(1, slow, limit=400)))\n"
    )
    here = Path(__file__).parent
    command = (sys.executable, "-c", script, here, ROOT / "tests/support")
    begun = machine.folder / "state/begun"
    env = {"PYTHONPATH": str(ROOT)}
    with started(*command, machine.folder, cwd=ROOT, env=env) as process:
        assert wait_until(lambda: begun.exists() or process.poll() is not None)
        process.terminate()
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert machine.statuses() == {"0": "good", "1": "killed"}
    assert "the next call continues with 1" in out


def test_no_step_takes_the_time_of_the_last() -> None:
    for stage in STAGES:
        before = sum(step.seconds or stage.limit for step in stage.steps[:-1])
        assert before + 20 <= stage.limit, stage.name


def test_evidence_is_kept_after_a_step_and_while_one_runs(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prove, "KEEP_EVERY", 0.5)
    into = machine.folder / "into"
    after = f"grep -q begun {into}/proof.json"
    log = f"tar -xzOf {into}/logs.tar.gz 00-stage0/log.txt"
    during = shell(f"until {log} | grep during; do sleep 0.1; done", seconds=20)
    machine.prove(stage(0, shell("echo begun"), shell(after), during))
    assert machine.statuses() == {"0": "good"}


def test_wrong_flags(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = "--stages=99; --seconds=-1; --filter=(; --sections=3"
    said = refusals(lambda flags: machine.prove(flags=tuple(flags)), wrong, capsys)
    check_golden("errors/prove.txt", said)


def test_a_folder_that_cannot_keep_anything_is_found_first(machine: Machine) -> None:
    (machine.folder / "into").write_text("a file")
    assert machine.prove(stage(0, shell(machine.counted))) == 2
    assert not (machine.folder / "count").exists()


def test_only_the_standard_library_is_required() -> None:
    # Without site-packages Python has no third-party modules.
    run(sys.executable, "-S", "-m", "tools.prove", "--pack=.", "--list", cwd=ROOT)


def test_prove_gpu_refuses_wrong_flags_before_it_builds() -> None:
    if not (ROOT / ".venv").exists():
        pytest.skip("no .venv, which tools/setup makes")
    flags = ("--rehearse", "--from=/none", "--stages=99")
    done = run(ROOT / "tools/prove-gpu", *flags, status=2)
    assert "it is '99'; allowed: 0, 1" in done.stderr


@pytest.mark.parametrize(
    ("flag", "ends"),
    [
        (
            "--filter=a",
            ["--stages=0,1 --seconds=90", "--seconds=520", "--seconds=LEFT"],
        ),
        ("--stages=3", ["--seconds=520", "--seconds=LEFT"]),
    ],
)
def test_prove_gpu_prints_the_given_flags_last(
    tmp_path: Path, flag: str, ends: list[str]
) -> None:
    write_script(tmp_path / "tools/pack-gpu", "#!/bin/sh")
    (tmp_path / "reports").symlink_to(ROOT / "reports")
    for name in ("lib", "prove", "ab_run", "planner", "rehearsal"):
        (tmp_path / "tools" / name).symlink_to(TOOLS / name)
    script = shutil.copy(TOOLS / "prove-gpu", tmp_path / "tools")
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    printed = run(script, flag, env={"PATH": path}).stdout.splitlines()
    assert [line.partition("gpu-proof ")[2] for line in printed] == [
        f"{end} {flag}" for end in ends
    ]
