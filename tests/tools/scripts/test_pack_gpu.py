# SPDX-License-Identifier: MIT
"""tools/pack-gpu and its packed run.sh, with stubs. test_prove_rehearsal.py packs and
runs the real programs where there is nothing else of the checkout."""

import gzip
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from processes import Finished, run
from stub_checkout import TOOLS, write_script
from tools.lib.budget import tracked

SCRIPTS = ("tools", "reports")

# LibTorch itself needs libc only; the programs also need $STUB_LIBRARIES.
LDD = """#!/bin/bash
[[ $1 == */libtorch.so ]] || cat "$STUB_LIBRARIES"
echo "	libc.so.6 => /lib/libc.so.6 (0x1)"
"""
# The stub programs are scripts.
STRIP = '#!/bin/sh\nshift 2\nfor program; do echo "# stripped" >>"$program"; done\n'
PROGRAM = """#!/bin/sh
echo "$(basename "$0") $*"
echo "$LD_LIBRARY_PATH"
exit "${STUB_STATUS:-0}"
"""


def make_torch(site: Path, version: str) -> Path:
    torch = site / "torch"
    for folder in (torch / "lib", site / "nvidia/cu13/lib", site / "nvidia/nccl/lib"):
        folder.mkdir(parents=True, exist_ok=True)
    (torch / "__init__.py").write_text("raise ImportError")
    (torch / "version.py").write_text(f"__version__ = '{version}'\ndebug = False\n")
    (torch / "lib/libtorch.so").write_text("")
    return torch


@dataclass(frozen=True)
class Build:
    directory: Path
    stubs: Path
    site: Path

    def libraries(self, *lines: str) -> None:
        text = "".join(f"\t{line} (0x1)\n" for line in lines)
        (self.stubs / "libraries").write_text(text)

    def pack(self, to: str = "gpu", status: int = 0) -> Finished:
        return run(
            TOOLS / "pack-gpu",
            f"--from={self.directory}",
            f"--to={self.directory}/{to}",
            status=status,
            env={
                "PATH": f"{self.stubs}:/usr/bin:/bin",
                "STUB_LIBRARIES": str(self.stubs / "libraries"),
            },
        )

    def carried(self, *flags: str, status: int = 0, **environment: str) -> Finished:
        given = {"PYTHON": sys.executable, "PYTHONPATH": str(self.site), **environment}
        return run(self.directory / "gpu/run.sh", *flags, status=status, env=given)

    def files(self) -> list[str]:
        """Returns the packed files except the Python packages."""
        pack = self.directory / "gpu"
        files = [p.relative_to(pack) for p in pack.rglob("*") if p.is_file()]
        return sorted(map(str, (p for p in files if p.parts[0] not in SCRIPTS)))


@pytest.fixture
def build(tmp_path: Path) -> Build:
    made = Build(tmp_path / "a build", tmp_path / "stubs", tmp_path / "a site")
    torch = make_torch(made.site, "2.11.0+cu130")
    programs = [made.directory / name for name in ("trainbench", "a_test", "b_test")]
    for program in programs:
        write_script(program, PROGRAM)
    listed = "".join(f"{program}\n" for program in programs)
    (made.directory / "gpu_programs.txt").write_text(listed)
    write_script(made.stubs / "ldd", LDD)
    write_script(made.stubs / "strip", STRIP)
    (made.stubs / "libown.so").write_text("own")
    made.libraries(
        f"libtorch.so => {torch}/lib/libtorch.so",
        f"libown.so.1 => {made.stubs}/libown.so",
    )
    return made


def test_programs_and_the_libraries_that_torch_does_not_need(build: Build) -> None:
    build.pack()
    assert build.files() == [
        "bin/a_test.gz",
        "bin/b_test.gz",
        "bin/trainbench.gz",
        "fixtures/counters.md",
        "lib/libown.so.1.gz",
        "run.sh",
        "torch_version.py",
    ]
    program = build.directory / "gpu/bin/trainbench.gz"
    assert gzip.decompress(program.read_bytes()).endswith(b"# stripped\n")


def test_a_pack_may_have_no_library_of_its_own(build: Build) -> None:
    build.libraries(f"libtorch.so => {build.site}/torch/lib/libtorch.so")
    build.pack()
    assert build.carried("--list").stdout


def test_the_proof_is_not_another_package_with_this_name(build: Build) -> None:
    build.pack()
    (build.site / "tools").mkdir()
    (build.site / "tools/__init__.py").write_text("")
    assert "identity" in build.carried("prove", "--list").stdout


def test_run_sh_finds_the_libraries_and_passes_flags_and_status_on(
    build: Build,
) -> None:
    build.pack()
    variables = {"LD_LIBRARY_PATH": "/mine", "STUB_STATUS": "7"}
    done = build.carried("--suite=a b", status=7, **variables)
    program, path = done.stdout.splitlines()
    assert program == "trainbench --suite=a b"
    assert path.split(":") == [
        f"{build.directory}/gpu/lib",
        f"{build.site}/torch/lib",
        f"{build.site}/nvidia/cu13/lib",
        f"{build.site}/nvidia/nccl/lib",
        "/mine",
    ]


@pytest.mark.parametrize(
    ("version", "status"),
    [
        ("2.11.1+cu130", 0),
        ("2.11.0+cu129", 3),
        ("2.12.0+cu130", 3),
        ("2.11.0", 3),
        ("2.10.0+cu128", 3),
    ],
)
def test_run_sh_takes_a_torch_of_the_same_interface(
    build: Build, version: str, status: int
) -> None:
    build.pack()
    make_torch(build.site, version)
    done = build.carried("--list", status=status)
    differs = f"{sys.executable} has torch {version}; this was built with 2.11.0+cu130"
    assert differs in done.stderr
    assert ("--any-torch" in done.stderr) == (done.stdout == "") == bool(status)
    done = build.carried("--any-torch", "--list")
    assert done.stderr == f"run.sh: {differs}\n"
    assert done.stdout.startswith("trainbench --list\n")


def test_run_sh_names_a_python_without_torch(build: Build) -> None:
    build.pack()
    write_script(build.stubs / "python", "#!/bin/sh\nexit 1\n")
    done = build.carried(status=3, PYTHON=str(build.stubs / "python"))
    assert f"{build.stubs}/python has no torch" in done.stderr
    assert "2.11.0+cu130" in done.stderr


def test_run_sh_refuses_the_proof_with_an_old_python(build: Build) -> None:
    build.pack()
    old = "import sys; sys.version_info = (3, 10); exec(sys.argv[1])"
    write_script(
        build.stubs / "python", f'#!/bin/sh\n{sys.executable} -c "{old}" "$2"\n'
    )
    python = str(build.stubs / "python")
    done = build.carried("prove", "--list", status=3, PYTHON=python)
    assert "the proof needs Python 3.11 or later" in done.stderr
    assert build.carried("--list", PYTHON=python).stdout


def test_what_cannot_be_packed(build: Build) -> None:
    own = f"libown.so.1 => {build.stubs}/libown.so"
    build.libraries(own)
    assert "was built for the CPU only" in build.pack(status=3).stderr
    build.libraries(own, "libgone.so.2 => not found")
    assert "libgone.so.2 => not found" in build.pack(status=3).stderr
    (build.directory / "gpu_programs.txt").unlink()
    done = build.pack(status=3)
    assert f"{build.directory} holds no build with tests" in done.stderr
    assert build.files() == []


def test_nothing_but_an_earlier_pack_is_replaced(build: Build) -> None:
    mine = build.directory / "gpu/mine"
    mine.parent.mkdir()
    mine.write_text("")
    done = build.pack(status=3)
    assert f"{mine.parent} exists and is no earlier pack" in done.stderr
    assert mine.exists()
    mine.unlink()
    build.pack()  # the directory is empty now
    (build.directory / "gpu/bin/old").write_text("")
    build.pack("gpu/")
    assert "bin/old" not in build.files()
    assert "bin/trainbench.gz" in build.files()
    assert not [*build.directory.glob("gpu.*")]


def test_it_stays_small_enough_to_carry_with_the_tree(build: Build) -> None:
    root = TOOLS.parent
    tree = sum((root / name).lstat().st_size for name in tracked(root)) >> 20
    incompressible = os.urandom((62 - tree) << 20)
    (build.stubs / "libown.so").write_bytes(incompressible)
    done = build.pack(status=3)
    assert "allowed: 62 together" in done.stderr
    assert not [*build.directory.glob("gpu*/")]
