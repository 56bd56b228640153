# SPDX-License-Identifier: MIT
"""Compiles the PyTorch model, or attention, ahead of time, for rows of `compiled`.

    tools/export_aoti --model=tiny --mode=forward_backward --batch=1 --seq=128
    tools/export_aoti --d_head=64 --mode=forward_backward --batch=8 --seq=256

torch.export traces the forward pass, or make_fx the forward and the backward pass, and
AOTInductor compiles it into a package without weights: the program supplies its own. A
package is for one shape, one precision, one version of PyTorch and the kind of machine
that made it. For a CPU this takes about a minute and needs a C++ compiler; for a GPU it
needs a GPU and Triton.
"""

import argparse
import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor
from torch._inductor import aot_compile
from torch._inductor.cpu_vec_isa import VecISA
from torch._inductor.package import package_aoti
from torch.export import ExportedProgram
from torch.func import functional_call
from torch.fx.experimental.proxy_tensor import make_fx

from tools.peers.flags import add_shape_flags, make_parser, positive
from tools.peers.pytorch_model import (
    ARCHITECTURE,
    MODELS,
    ModelConfig,
    TransformerLM,
    causal_attention,
    cross_entropy,
)

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/aoti"  # --aoti of the program
MODES = ("inference", "forward_backward")
# bf16_autocast is for a model, since its weights stay fp32; bf16 is for attention.
PRECISIONS = ("fp32", "bf16_autocast", "bf16")
_TWIN = {"attention": "naive", "implementation": "textbook"}  # of the PyTorch model
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")  # as model/spec/config.cc, IsName()
_SIZES = {"d_model", "d_ff", "layers", "heads", "kv_heads", "vocab", "context"}


class Step(TransformerLM):
    """A forward pass, or loss and gradients, with the names of the parameters."""

    def __init__(self, config: ModelConfig, *, autocast: bool) -> None:
        super().__init__(config)
        self.autocast = autocast
        self.traced: Callable[..., Any] | None = None

    def forward(self, tokens: Tensor, *targets: Tensor) -> Any:
        if self.traced is not None:
            weights = dict(self.named_parameters())
            return self.traced(weights, dict(self.named_buffers()), tokens, *targets)
        with torch.autocast(tokens.device.type, torch.bfloat16, enabled=self.autocast):
            logits = super().forward(tokens)
            return cross_entropy(logits, *targets) if targets else logits

    def trace_gradients(self, *batch: Tensor) -> None:
        """Traces tokens and targets. Later calls return the loss and the gradients."""

        def run(weights: Any, buffers: Any, *inputs: Tensor) -> tuple[Tensor, ...]:
            loss = functional_call(self, weights | buffers, inputs)
            return (loss, *torch.autograd.grad(loss, tuple(weights.values())))

        state = dict(self.named_parameters()), dict(self.named_buffers())
        self.traced = make_fx(run, tracing_mode="fake")(*state, *batch)


def attention_gradients(
    q: Tensor, k: Tensor, v: Tensor, gradient: Tensor
) -> tuple[Tensor, ...]:
    """The output, and the gradients of q, k and v; `gradient` is the output's."""
    output = causal_attention(q, k, v)
    return (output, *torch.autograd.grad(output, (q, k, v), gradient))


def export_attention(a: argparse.Namespace) -> ExportedProgram:
    """Exports attention of [batch, seq, d_head] tensors, or with its gradients."""
    dtype = torch.bfloat16 if a.precision == "bf16" else torch.float32
    shape = (a.batch, a.seq, a.d_head)
    inputs = [torch.zeros(shape, dtype=dtype, device=a.device) for _ in range(4)]
    if a.mode == "inference":
        del inputs[3]
        traced = make_fx(causal_attention, tracing_mode="fake")(*inputs)
    else:
        leaves = [x.requires_grad_() for x in inputs[:3]]
        traced = make_fx(attention_gradients, tracing_mode="fake")(*leaves, inputs[3])
    with torch.no_grad():
        return torch.export.export(traced, tuple(x.detach() for x in inputs))


def export_model(a: argparse.Namespace) -> tuple[ExportedProgram, list[str]]:
    """Exports a step; returns also the names of the gradients that follow the loss."""
    config = a.model[1]
    if config.positions == "rope":
        # The program also makes its table of rotations for exactly these positions.
        config = replace(config, context=a.seq)
    with torch.device(a.device):
        model = Step(config, autocast=a.precision == "bf16_autocast")
        tokens = torch.zeros((a.batch, a.seq), dtype=torch.int64)
    inputs: tuple[Tensor, ...] = (tokens,)
    gradients: list[str] = []
    if a.mode == "forward_backward":
        # Two objects, because a single one would be traced as a single input.
        inputs = (tokens, tokens.clone())
        gradients = [name for name, _ in model.named_parameters()]
        model.trace_gradients(*inputs)
    with torch.no_grad():
        return torch.export.export(model, inputs), gradients


def parse_model(text: str) -> tuple[str, ModelConfig]:
    """Reads a model's name, or a definition as the program's --model takes it."""
    if text in MODELS:
        return text, MODELS[text]
    allowed = (
        f"allowed: {', '.join(MODELS)}, or name=mine,d_model=64,d_ff=128,layers=2,"
        "heads=2,vocab=100"
    )
    fields = dict(item.partition("=")[::2] for item in text.split(","))
    name = fields.pop("name", "")
    of_twin = {key: fields.pop(key, word) == word for key, word in _TWIN.items()}
    if not all(of_twin.values()):
        raise argparse.ArgumentTypeError(
            f"'{text}'; allowed: attention=naive,implementation=textbook"
        )
    choices = {"tied_embeddings": ("false", "true"), **ARCHITECTURE}
    chosen: dict[str, Any] = {
        key: fields.pop(key, values[0]) for key, values in choices.items()
    }
    for key, value in chosen.items():
        if value not in choices[key]:
            raise argparse.ArgumentTypeError(
                f"{key} '{value}'; allowed: {', '.join(choices[key])}"
            )
    tied = chosen.pop("tied_embeddings") == "true"
    if not name or fields.keys() - _SIZES:
        raise argparse.ArgumentTypeError(f"'{text}'; {allowed}")
    if not _NAME.fullmatch(name) or name in MODELS:
        raise argparse.ArgumentTypeError(
            f"name '{name}'; allowed: 1 to 64 letters, digits, '.', '_' or '-', and no "
            f"name of {', '.join(MODELS)}"
        )
    try:
        sizes: dict[str, Any] = {key: positive(fields[key]) for key in fields}
        return name, ModelConfig(**sizes, tied_embeddings=tied, **chosen)
    except (TypeError, argparse.ArgumentTypeError) as error:
        raise argparse.ArgumentTypeError(f"'{text}'; {allowed}") from error


def cpu_name() -> str:
    """The CPU's name and signature, as the program writes them."""
    first, _, _ = Path("/proc/cpuinfo").read_text().partition("\n\n")
    pairs = (line.partition(":") for line in first.splitlines())
    facts = {key.strip(): value.strip() for key, _, value in pairs}
    name = facts.get("model name", "unknown CPU")
    keys = {"cpu family": "family", "model": "model", "stepping": "stepping"}
    parts = (f"{word} {facts[key]}" for key, word in keys.items() if key in facts)
    return " ".join((name, *parts))


def machine(device: str) -> str:
    """The machine for which a package is compiled, with its instruction set."""
    if device == "cuda":
        name = torch.cuda.get_device_name()
    else:
        name = f"{cpu_name()} {torch.backends.cpu.get_cpu_capability()}"
    version = torch.__version__.partition("+")[0]
    return re.sub(r"[^A-Za-z0-9.]+", "_", f"{name} torch {version}")


def package_path(a: argparse.Namespace) -> Path:
    """The path at which fixtures/steps/aoti/package.cc looks for the package."""
    name = "attention" if a.d_head else a.model[0]
    shape = (a.batch, a.seq, a.d_head) if a.d_head else (a.batch, a.seq)
    file = f"{name}-{a.precision}-{a.mode}-{'x'.join(map(str, shape))}.pt2"
    path: Path = a.out / machine(a.device) / file
    return path


def description(config: ModelConfig) -> str:
    """The text that the program compares before it passes its weights."""
    heads = str(config.heads)
    if config.key_value_heads != config.heads:
        heads += f":{config.kv_heads}"
    sizes = (config.d_model, config.d_ff, config.layers, heads, config.vocab)
    tied = "/tied" if config.tied_embeddings else ""
    return "/".join(map(str, sizes)) + tied + config.architecture


def compile_package(
    program: ExportedProgram, path: Path, metadata: dict[str, str]
) -> None:
    # To try an instruction set, PyTorch asks the CPU, compiles a library, and loads it
    # in a child that imports PyTorch. This omits the child: only compiling is in doubt.
    VecISA._avx_py_load = ""
    start = time.monotonic()
    args, _ = program.example_inputs
    files: Any = aot_compile(
        program.module(check_guards=False),
        args,
        options={
            "aot_inductor.package": True,
            "aot_inductor.package_constants_in_so": False,
            "aot_inductor.metadata": metadata,
            # The program sets the number of threads when it runs the package.
            "cpp.dynamic_threads": True,
            # Otherwise PyTorch compiles and loads a library for AVX2 and AVX-512, which
            # a compiler of C++20 knows. It still compiles ones for BF16, VNNI and AMX.
            "cpp.vec_isa_ok": True,
            # A package compiles each header only once.
            "aot_inductor.precompile_headers": False,
        },
    )
    # The compiler writes the metadata before its own duration is known.
    seconds = {"compile_seconds": f"{time.monotonic() - start:.1f}"}
    for file in map(Path, files):
        if file.name.endswith("_metadata.json"):
            file.write_text(json.dumps(json.loads(file.read_text()) | seconds))
    # Written atomically. The archive has its files below its own name.
    with TemporaryDirectory(dir=path.parent, prefix=".") as folder:
        whole = Path(folder) / path.name
        package_aoti(str(whole), files)
        whole.replace(path)


def export(a: argparse.Namespace) -> Path:
    """Writes the package and returns its path."""
    if a.d_head:
        program, metadata = export_attention(a), {}
    else:
        program, gradients = export_model(a)
        metadata = {
            "trainbench": description(a.model[1]),
            "gradients": ",".join(gradients),
        }
    path = package_path(a)
    path.parent.mkdir(parents=True, exist_ok=True)
    compile_package(program, path, metadata)
    return path


def parse(flags: Sequence[str]) -> argparse.Namespace:
    parser = make_parser("tools/export_aoti", __doc__)
    add = parser.add_argument
    add("--model", type=parse_model, default="tiny", help="a name, or sizes (tiny)")
    add(
        "--d_head",
        type=positive,
        help="attention alone, [batch, seq, d_head], instead of a model",
    )
    add("--precision", choices=PRECISIONS, default="fp32", help="(%(default)s)")
    add("--mode", choices=MODES, default="inference", help="(%(default)s)")
    add_shape_flags(parser)
    add("--out", type=Path, default=FOLDER, help="folder (build/aoti)")
    a = parser.parse_args(flags)
    if a.precision == ("bf16_autocast" if a.d_head else "bf16"):
        allowed = "fp32, bf16" if a.d_head else "fp32, bf16_autocast"
        parser.error(f"argument --precision: '{a.precision}'; allowed: {allowed}")
    config = a.model[1]
    if config.d_model % config.heads or config.heads % config.key_value_heads:
        given = f"heads={config.heads}, kv_heads={config.key_value_heads}"
        allowed = f"divisors of d_model={config.d_model} and of heads"
        parser.error(f"argument --model: {given}; allowed: {allowed}")
    if not a.d_head and config.positions == "learned" and a.seq > config.context:
        allowed = f"1 to context={config.context}"
        parser.error(f"argument --seq: {a.seq}; allowed: {allowed}")
    return a


def main(flags: Sequence[str]) -> None:
    print(export(parse(flags)))
