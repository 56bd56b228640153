# SPDX-License-Identifier: MIT
"""tools/bench and tools/test, with stubs in place of what takes long."""

import re
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[3] / "tools"
NAME = r"\d{8}T\d{6}Z-%s-%s(-\d+)?"

# Says what it was asked to do. A configured directory holds build.ninja.
CMAKE = """#!/bin/sh
echo "cmake $*" >>"$STUB_LOG"
[ "$1" = --preset ] && mkdir -p "build/$2" && : >"build/$2/build.ninja"
[ "$1" = --build ] && exit "${STUB_BUILD_STATUS:-0}"
exit 0
"""
CTEST = """#!/bin/sh
echo "ctest $*" >>"$STUB_LOG"
exit "${STUB_STATUS:-0}"
"""
NVIDIA_SMI = """#!/bin/sh
[ -n "$STUB_GPU" ] && echo "GPU 0: Stub" && exit 0
exit 9
"""
# Writes the files it is told to, and one argument per line to its output.
TRAINBENCH = """#!/bin/bash
for argument in "$@"; do
  echo "$argument"
  case $argument in
    --benchmark_out=* | --samples_out=*)
      [[ -n $STUB_SILENT ]] || echo '{}' >"${argument#*=}" ;;
  esac
done
if [[ -n $STUB_WAIT ]]; then
  trap 'echo stopped; exit 42' TERM INT
  : >"$STUB_WAIT"
  for ((i = 0; i < 200; i++)); do sleep 0.05; done
fi
exit "${STUB_STATUS:-0}"
"""


@dataclass(frozen=True)
class Checkout:
    root: Path
    stubs: Path

    def environment(self, **extra: str) -> dict[str, str]:
        path = f"{self.stubs}:/usr/local/bin:/usr/bin:/bin"
        log = str(self.stubs / "log")
        return {"PATH": path, "STUB_LOG": log, "HOME": str(self.stubs), **extra}

    def run(
        self, script: str, *flags: str, **extra: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.root / "tools" / script, *flags],
            cwd=self.stubs,  # a result must not depend on where one stands
            env=self.environment(**extra),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def results(self) -> list[str]:
        return sorted(path.name for path in (self.root / "results").glob("*"))

    def log(self) -> list[str]:
        return (self.stubs / "log").read_text().splitlines()


def write_script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root, stubs = tmp_path / "check out", tmp_path / "stubs"
    (root / "tools").mkdir(parents=True)
    for name in ("bench", "test"):
        shutil.copy(TOOLS / name, root / "tools" / name)
    shutil.copytree(TOOLS / "lib", root / "tools" / "lib")
    (root / "CMakePresets.json").write_text("{}")
    (root / ".gitignore").write_text("/build/\n/results/\n")
    write_script(root / "tools" / "setup", "#!/bin/sh\nexit 0\n")
    write_script(root / "build/release/benchmarks/trainbench", TRAINBENCH)
    for name, text in {
        "cmake": CMAKE,
        "ctest": CTEST,
        "nvidia-smi": NVIDIA_SMI,
    }.items():
        write_script(stubs / name, text)
    return Checkout(root, stubs)


def test_a_result_and_its_samples_are_named_by_time_revision_and_device(
    checkout: Checkout,
) -> None:
    done = checkout.run("bench", "--suite=smoke", "--benchmark_filter=a b")
    assert done.returncode == 0, done.stderr
    result, samples = checkout.results()
    assert re.fullmatch(NAME % ("unknown", "cpu") + r"\.json", result)
    assert samples == result.replace(".json", ".samples.jsonl")
    assert done.stdout.splitlines() == [
        f"--benchmark_out={checkout.root}/results/{result}",
        f"--samples_out={checkout.root}/results/{samples}",
        "--suite=smoke",
        "--benchmark_filter=a b",
    ]
    for name in (result, samples):
        assert f"wrote {checkout.root}/results/{name}\n" in done.stderr


@pytest.mark.parametrize(
    ("flags", "device"),
    [
        ([], "cuda"),
        (["--device=cpu"], "cpu"),
        (["--device", "cpu"], "cpu"),
        (["--device=cuda"], "cuda"),
    ],
)
def test_the_device_in_the_name(
    checkout: Checkout, flags: list[str], device: str
) -> None:
    done = checkout.run("bench", *flags, STUB_GPU="1")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(NAME % ("unknown", device) + r"\.json", checkout.results()[0])


def test_the_revision_in_the_name(checkout: Checkout) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed")

    def call(*arguments: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        return subprocess.check_output(
            [git, *identity, *arguments], cwd=checkout.root, text=True
        ).strip()

    call("init", "--quiet")
    call("add", ".")
    call("commit", "--quiet", "--message=a")
    revision = call("rev-parse", "--short", "HEAD")
    assert checkout.run("bench").returncode == 0
    assert re.match(NAME % (revision, "cpu"), checkout.results()[0])
    shutil.rmtree(checkout.root / "results")
    (checkout.root / "new.cc").write_text("")
    assert checkout.run("bench").returncode == 0
    assert re.match(NAME % (f"{revision}-dirty", "cpu"), checkout.results()[0])


def test_two_calls_at_once_do_not_share_a_result(checkout: Checkout) -> None:
    with ThreadPoolExecutor(max_workers=2) as pool:
        done = list(pool.map(lambda _: checkout.run("bench"), range(2)))
    assert [one.returncode for one in done] == [0, 0]
    assert len(checkout.results()) == 4


@pytest.mark.parametrize("status", [0, 1, 2, 7])
def test_the_status_is_the_programs(checkout: Checkout, status: int) -> None:
    assert checkout.run("bench", STUB_STATUS=str(status)).returncode == status


def test_wrong_usage_leaves_no_empty_result(checkout: Checkout) -> None:
    done = checkout.run("bench", "--nonsense", STUB_STATUS="2", STUB_SILENT="1")
    assert done.returncode == 2
    assert checkout.results() == []
    assert "wrote" not in done.stderr


def test_the_users_own_files(checkout: Checkout) -> None:
    mine = checkout.stubs / "mine.json"
    done = checkout.run("bench", f"--benchmark_out={mine}")
    assert done.stdout.splitlines() == [
        f"--samples_out={checkout.stubs}/mine.samples.jsonl",
        f"--benchmark_out={mine}",
    ]
    samples = checkout.stubs / "s.jsonl"
    flags = [f"--benchmark_out={mine}", f"--samples_out={samples}"]
    done = checkout.run("bench", *flags)
    assert done.stdout.splitlines() == flags
    assert checkout.results() == []


def test_wrong_usage_does_not_claim_an_older_result(checkout: Checkout) -> None:
    older = checkout.root / "older.json"
    older.write_text("{}")
    done = checkout.run("bench", f"--benchmark_out={older}", STUB_STATUS="2")
    assert done.returncode == 2
    assert "wrote" not in done.stderr


@pytest.mark.parametrize(
    "flag",
    ["--help", "--list", "--benchmark_list_tests", "--benchmark_list_tests=true"],
)
def test_what_measures_nothing_writes_nothing(checkout: Checkout, flag: str) -> None:
    done = checkout.run("bench", flag)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{flag}\n"
    assert checkout.results() == []
    assert "wrote" not in done.stderr


def test_it_configures_once_and_builds_always(checkout: Checkout) -> None:
    for _ in range(2):
        assert checkout.run("bench", "--help").returncode == 0
    log = checkout.log()
    assert log[0] == "cmake --preset release"
    builds = [line for line in log if line.startswith("cmake --build --preset release")]
    assert len(builds) == 2
    assert len(log) == 3


def test_a_failed_build_is_status_3_and_runs_nothing(checkout: Checkout) -> None:
    done = checkout.run("bench", STUB_BUILD_STATUS="1")
    assert done.returncode == 3
    assert done.stdout == ""
    assert "the build of release failed" in done.stderr
    assert checkout.results() == []


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_program_and_then_the_script(
    checkout: Checkout, sent: signal.Signals
) -> None:
    started = checkout.stubs / "started"
    with subprocess.Popen(
        [checkout.root / "tools/bench"],
        cwd=checkout.stubs,
        env=checkout.environment(STUB_WAIT=str(started)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        for _ in range(400):
            if started.exists():
                break
            time.sleep(0.05)
        process.send_signal(sent)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 42
    assert out.endswith("stopped\n")
    assert "wrote " in err


def test_tools_test_hands_its_flags_to_ctest(checkout: Checkout) -> None:
    done = checkout.run("test", "-R", "sampler", STUB_STATUS="8")
    assert done.returncode == 8
    assert checkout.log()[-1] == "ctest --preset dev -R sampler"


def test_tools_test_runs_the_sanitizers_first(checkout: Checkout) -> None:
    assert checkout.run("test", "--asan", "-V").returncode == 0
    calls = [line for line in checkout.log() if line.startswith("ctest")]
    assert calls == ["ctest --preset asan -V", "ctest --preset dev -V"]
