# SPDX-License-Identifier: MIT
"""Compiles the PyTorch model ahead of time, for the rows of `compiled`.

    tools/export_aoti --model=tiny --batch=1 --seq=128

torch.export traces the forward pass without gradients, and AOTInductor compiles it
into a package without weights: the program gives it its own. A package is for one
shape, one precision, and the kind of machine that made it. On a CPU it takes half a
minute and a C++ compiler, for a GPU it takes one, and Triton.
"""

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
import torch._inductor
from torch import Tensor

from reports.command import run_main
from tools.peers.flags import PRECISIONS, add_shape_flags, make_parser, positive
from tools.peers.pytorch_model import MODELS, ModelConfig, TransformerLM

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/aoti"  # --aoti of the program
_TWIN = {"attention": "naive", "implementation": "textbook"}  # as the twin computes
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")  # as model/spec/config.h, IsName()
_SIZES = {"d_model", "d_ff", "layers", "heads", "kv_heads", "vocab"}


class AutocastLM(TransformerLM):
    """The model under autocast, with the names of its parameters."""

    def forward(self, tokens: Tensor) -> Tensor:
        with torch.autocast(tokens.device.type, torch.bfloat16):
            return super().forward(tokens)


def parse_model(text: str) -> tuple[str, ModelConfig]:
    """A name and sizes, from a name or from what the program takes as --model."""
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
    tied = fields.pop("tied_embeddings", "false")
    if tied not in ("true", "false"):
        raise argparse.ArgumentTypeError(
            f"tied_embeddings '{tied}'; allowed: true or false"
        )
    if not name or fields.keys() - _SIZES:
        raise argparse.ArgumentTypeError(f"'{text}'; {allowed}")
    if not _NAME.fullmatch(name) or name in MODELS:
        raise argparse.ArgumentTypeError(
            f"name '{name}'; allowed: 1 to 64 letters, digits, '.', '_' or '-', and no "
            f"name of {', '.join(MODELS)}"
        )
    try:
        sizes = {key: positive(fields[key]) for key in fields}
        return name, ModelConfig(**sizes, tied_embeddings=tied == "true")
    except (TypeError, argparse.ArgumentTypeError) as error:
        raise argparse.ArgumentTypeError(f"'{text}'; {allowed}") from error


def package_name(model: str, a: argparse.Namespace) -> str:
    """The name under which fixtures/steps/aoti/compiled_model.cc looks for it."""
    return f"{model}-{a.precision}-{a.device}-{a.batch}x{a.seq}.pt2"


def device_name(device: str) -> str:
    """As the program names it."""
    if device == "cuda":
        return torch.cuda.get_device_name()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "CPU"


def description(config: ModelConfig, a: argparse.Namespace) -> str:
    """What the program compares before it hands over its weights."""
    heads = str(config.heads)
    if config.key_value_heads != config.heads:
        heads += f":{config.kv_heads}"
    sizes = (config.d_model, config.d_ff, config.layers, heads, config.vocab)
    tied = "/tied" if config.tied_embeddings else ""
    return f"{'/'.join(map(str, sizes))}{tied} on {device_name(a.device)}"


def export(a: argparse.Namespace) -> Path:
    """Writes the package and returns its path."""
    name, config = a.model
    kind = AutocastLM if a.precision == "bf16_autocast" else TransformerLM
    # One table of rotations for these positions: the program makes it, too.
    with torch.device(a.device):
        model = kind(replace(config, context=a.seq)).eval()
        tokens = torch.zeros((a.batch, a.seq), dtype=torch.int64)
    path: Path = a.out / package_name(name, a)
    path.parent.mkdir(parents=True, exist_ok=True)
    with torch.no_grad():
        program = torch.export.export(model, (tokens,))
        torch._inductor.aoti_compile_and_package(
            program,
            package_path=str(path),
            inductor_configs={
                "aot_inductor.package_constants_in_so": False,
                "aot_inductor.metadata": {"trainbench": description(config, a)},
                # As many threads as the program has, not as this process has.
                "cpp.dynamic_threads": True,
            },
        )
    return path


def parse(flags: Sequence[str]) -> argparse.Namespace:
    parser = make_parser("tools/export_aoti", __doc__)
    add = parser.add_argument
    add("--model", type=parse_model, default="tiny", help="a name, or sizes (tiny)")
    add("--precision", choices=PRECISIONS, default="fp32", help="(%(default)s)")
    add_shape_flags(parser)
    add("--out", type=Path, default=FOLDER, help="folder (build/aoti)")
    return parser.parse_args(flags)


def main(flags: Sequence[str]) -> None:
    print(export(parse(flags)))


if __name__ == "__main__":
    run_main("tools/export_aoti", main)
