# SPDX-License-Identifier: MIT
"""The commands of a stage as data, with their requirements.

A command runs in the folder of the pack. {bin} stands for the folder of the programs,
{out} for the stage's own folder, {state} for the folder of all stages, {python} for the
Python that has torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

SUITE = "full"  # as in the committed reference of a machine
GPU_TESTS = "Cuda*:*/Cuda*"
# The smallest model with several blocks, which stands for all models on a null GPU.
NANO_MODEL = (
    "--model=name=nano,d_model=32,d_ff=64,layers=2,heads=2,vocab=128 --models=nano"
)
NANO = f"{NANO_MODEL} --seq=16"


@dataclass(frozen=True)
class Step:
    command: tuple[str, ...]
    patterns: tuple[str, ...] = ()  # of case names, which begin with one of them
    unfiltered: bool = False  # --filter lists the cases first, which is a start
    seconds: float | None = None  # at most; None: the rest of the stage
    programs: tuple[str, ...] = ()  # required, of other projects
    modules: tuple[str, ...] = ()  # required, of Python
    environment: Mapping[str, str] = field(default_factory=dict)
    resumes: str = ""  # the result file to resume, if it exists
    real: tuple[str, ...] = ()  # flags for a real GPU
    # Flags for a null GPU. None: it does not run there, since nothing is computed.
    null: tuple[str, ...] | None = ()
    null_environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def of_cases(self) -> bool:
        return "{bin}/trainbench" in self.command


def cases(
    result: str,
    patterns: str = "",
    flags: str = "",
    *,
    suite: str = SUITE,
    real: str = "",
    null: str = "",
    resumes: bool = False,
    seconds: float | None = None,
    unfiltered: bool = False,
) -> Step:
    """The cases with names that begin with one of the patterns, or all.

    A wrong value does not fail the row, which contains its error. Each row is visited
    once and briefly: rows of several visits would all end with the last round, and a
    step that is cut before would leave none.
    """
    path = f"{{out}}/{result}.json"
    return Step(
        (
            *("{bin}/trainbench", "--device=cuda", "--value_checks=report"),
            *(f"--suite={suite}", f"--benchmark_out={path}", *flags.split()),
        ),
        patterns=tuple(patterns.split()),
        unfiltered=unfiltered,
        seconds=seconds,
        resumes=path if resumes else "",
        real=(
            "--rounds=1",
            *(() if suite == "smoke" else ("--benchmark_min_time=0.3",)),
            *(f"--samples_out={{out}}/{result}.samples.jsonl", *real.split()),
        ),
        null=("--warmup=0", "--benchmark_min_time=0", *null.split()),
    )


def tests(
    program: str,
    pattern: str = GPU_TESTS,
    *,
    null: str,
    values: bool = False,
    report: str = "",
) -> Step:
    """Tests that need a GPU; `null` selects the tests that a null GPU passes.

    With `values` the null GPU runs our kernels in the emulator.
    """
    return Step(
        (f"{{bin}}/{program}", f"--gtest_output=xml:{{out}}/{report or program}.xml"),
        seconds=48,
        real=(f"--gtest_filter={pattern}",),
        null=(f"--gtest_filter={null}",),
        null_environment=(
            {"TRAINBENCH_NULL_GPU_VALUES": "1", "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
            if values
            else {"TRAINBENCH_NULL_GPU_SPINS": "1"}
        ),
    )


def sanitized(tool: str, program: str) -> Step:
    """Tests under compute-sanitizer, with a separate allocation for each tensor."""
    return Step(
        (
            *("compute-sanitizer", f"--tool={tool}", "--error-exitcode=9"),
            *(f"{{bin}}/{program}", f"--gtest_filter={GPU_TESTS}"),
        ),
        seconds=60,
        programs=("compute-sanitizer",),
        environment={"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
        null=None,
    )


def counted(kernel: str, case: str) -> Step:
    """All counters of the first launch of a kernel that matches the pattern."""
    return Step(
        (
            *("ncu", "--clock-control=none", "--set=full"),
            # The program ends after the launch; its checks would take the time.
            *("--launch-count=1", "--kill=yes"),
            *("--kernel-name-base=demangled", f"--kernel-name=regex:{kernel}"),
            *("{bin}/trainbench", "--device=cuda", "--value_checks=report"),
            *(f"--suite={SUITE}", "--warmup=0", "--samples=1"),
        ),
        patterns=(case,),
        seconds=21,
        programs=("ncu",),
        null=None,
    )


def peer(module: str, flags: str, seconds: float, *modules: str) -> Step:
    """A tool of tools/peers, which runs PyTorch in Python."""
    name = f"tools.peers.{module}"
    command = ("{python}", "-m", "reports.command", name, name, *flags.split())
    needed = ("torch", "triton", *modules)
    return Step(command, seconds=seconds, modules=needed, null=None)
