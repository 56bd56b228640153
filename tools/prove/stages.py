# SPDX-License-Identifier: MIT
"""The stages of the proof, in the order in which they run, each with its limit."""

from collections.abc import Callable
from dataclasses import dataclass

from tools.prove import verdicts
from tools.prove.readings import Seen
from tools.prove.steps import (
    NANO,
    NANO_MODEL,
    SUITE,
    Step,
    cases,
    counted,
    peer,
    sanitized,
    tests,
)


@dataclass(frozen=True)
class Stage:
    number: int
    name: str
    limit: float  # in seconds, of each call
    look_at: Callable[[Seen], list[str]]
    steps: tuple[Step, ...]
    goes_on: bool = False  # in the next call, if the limit cuts it

    @property
    def key(self) -> str:
        return str(self.number)

    @property
    def folder(self) -> str:
        return f"{self.number:02}-{self.name}"


def stage(
    number: int,
    name: str,
    limit: float,
    look_at: Callable[[Seen], list[str]],
    *steps: Step,
    goes_on: bool = False,
) -> Stage:
    return Stage(number, name, limit, look_at, steps, goes_on)


_LARGE_FUSED = (
    "--model=name=2.7B_fused,d_model=2560,d_ff=10240,layers=32,heads=32,vocab=10000,"
    "implementation=fused "
    "--models=2.7B_fused --precision=bf16_autocast --mode=forward_backward"
)
_BIG = "--models=2.7B"
_ATTENTION = "flash_attention/own/bf16/forward_backward/.*d_head:"

STAGES = (
    stage(
        *(0, "identity", 120, verdicts.identity),
        Step(
            ("{python}", "-m", "tools.prove.identity", "{bin}", "{out}/identity.json"),
            seconds=30,
        ),
        cases("first", "harness/empty$", unfiltered=True, seconds=60),
        cases("second", "harness/empty$", unfiltered=True),
    ),
    stage(
        *(1, "kernels", 40, verdicts.device),
        tests("kernels_gpu_test", null="*", values=True),
    ),
    stage(
        *(2, "fused", 90, verdicts.errors),
        tests("fused_cuda_test", null="CudaFusedTest.AddRmsNorm*", values=True),
        cases("attention", "flash_attention/(own|sdpa_flash)/bf16/"),
    ),
    stage(
        *(3, "rates", 90, verdicts.rates),
        cases("rates", "harness/ peak/ transfer/ accumulation/ norm_precision/"),
    ),
    stage(
        *(4, "headline", 200, verdicts.headline),
        cases("fused", "model_size/", _LARGE_FUSED, seconds=45),
        cases("implementations", "implementations/", real=_BIG, null=NANO, seconds=50),
        cases("optimizer", "optimizer/fused/", real=_BIG, null=NANO_MODEL, seconds=20),
        cases("large", "model_size/", real=_BIG, null=NANO, seconds=45),
        cases(
            *("headline", "peak/ flash_attention/ cuda_graph/"),
            null=f"--shard=1/8 {NANO}",
        ),
    ),
    stage(
        *(7, "breakdown", 60, verdicts.breakdown),
        cases("breakdown", "breakdown/small/", real="--trace={out}/traces"),
    ),
    stage(
        *(8, "suite", 400, verdicts.rows),
        cases(SUITE, null=f"--shard=1/3 {NANO}", resumes=True),
        goes_on=True,
    ),
    stage(
        *(12, "ncu", 150, verdicts.counters),
        counted("FlashBf16Forward", f"{_ATTENTION}64$"),
        counted("FlashBf16Backward", f"{_ATTENTION}64$"),
        counted("FlashBf16Forward", f"{_ATTENTION}128$"),
        counted("FlashBf16Backward", f"{_ATTENTION}128$"),
        counted("RmsNormBackward", "fused_ops/add_rms_norm/fused/.*/backward/"),
        counted("CrossEntropy", "fused_ops/cross_entropy/fused/"),
        counted("SoftmaxForward", "fused_ops/causal_softmax/fused/.*/forward/"),
    ),
    stage(
        *(9, "tests", 240, verdicts.tests),
        tests("ops_test", null="CudaAttentionTest.ADryRun*"),
        tests("memory_test", null="CudaMemoryTrace*"),
        tests("steps_test", null="CudaMemoryOrder*"),
        tests(
            *("runner_test", "Cuda*:*/Cuda*-CudaCaseRunnerTest.OutOfMemory*"),
            null="CudaDeviceTest.Finds*",
        ),
        # It fills the GPU.
        tests(
            *("runner_test", "CudaCaseRunnerTest.OutOfMemory*"),
            null="CudaCaseRunnerTest.OutOfMemory*",
            report="out_of_memory",
        ),
    ),
    stage(
        *(6, "ranks", 60, verdicts.rows),
        cases(
            *("ranks", "ddp/ all_reduce/ fsdp/ tensor_parallel/", "--ranks=1"),
            suite="smoke",
            null=NANO,
        ),
    ),
    stage(
        *(10, "aftermath", 60, verdicts.aftermath),
        # This needs a new process: the program times nothing after a profile.
        cases(
            *("new_process", "harness/ peak/ optimizer/fused/2.7B"),
            null="--shard=1/4",
        ),
    ),
    stage(
        *(5, "smoke", 150, verdicts.rows),
        cases("smoke", suite="smoke", null=f"--shard=1/3 {NANO}", resumes=True),
        goes_on=True,
    ),
    stage(
        *(11, "sanitizer", 240, verdicts.sanitizer),
        sanitized("memcheck", "kernels_gpu_test"),
        sanitized("racecheck", "kernels_gpu_test"),
        sanitized("initcheck", "kernels_gpu_test"),
        # It loads LibTorch's kernels, which the other tools would slow too much.
        sanitized("memcheck", "fused_cuda_test"),
    ),
    stage(
        *(13, "peers", 330, verdicts.peers),
        peer(
            "step_table",
            "--models=small --precisions=bf16_autocast --device=cuda --batch=4 "
            "--seq=512 --rounds=1 --sides=fused,compile --binary={bin}/trainbench "
            "--json={out}/peers.json",
            *(150, "numpy", "scipy"),
        ),
        peer(
            "export_aoti",
            "--model=small --precision=bf16_autocast --mode=forward_backward "
            "--device=cuda --batch=4 --seq=128 --out={state}/aoti",
            seconds=90,
        ),
        peer(
            "export_aoti",
            "--d_head=64 --precision=bf16 --mode=forward_backward --device=cuda "
            "--batch=8 --seq=1024 --out={state}/aoti",
            seconds=30,
        ),
        cases("compiled", "compiled/", "--aoti={state}/aoti"),
    ),
    stage(
        *(14, "paper", 300, verdicts.rows),
        cases(
            "paper",
            "model_size/ implementations/ attention_scaling/ memory/",
            suite="paper",
            # All predictions come before the first row.
            real="--shard=1/8",
            null="--shard=1/200",
            resumes=True,
        ),
        goes_on=True,
    ),
)
