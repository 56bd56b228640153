# SPDX-License-Identifier: MIT
"""The command tools/plan."""

import argparse
import itertools
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from reports.compare.argument_types import number
from tools.planner import arguments, models_text, parallel, recipes, timing, training
from tools.planner.arguments import count, words
from tools.planner.program import RUN, Ask, Json

_RULES = (*training.RULES, ("rates", "without", ("recipe",)), *recipes.RULES)
_STANDARD = ["tiny", "small", "medium", "large", "xl", "2.7B"]
_MESH = "tools/rehearse --gpu=h100 --mesh=auto --ranks=8 --model=Llama-2-7B"
_DESCRIPTION = f"""\
Says, without measuring anything, whether a model fits in a device's memory and
what one step of it costs:

  tools/plan --models=xl,2.7B --precision=fp32,bf16_autocast --seq=1024

How long training takes, at a share of the device's peak or as measured:

  tools/plan --models=GPT-2-1.5B --precision=bf16 --tokens=300e9 --mfu=0.4 \\
    --peak_tflops=312

How long a step takes on a GPU, which need not be here:

  tools/plan --models=Llama-3-8B --precision=bf16 --seq=4096 --rates=h100

What a rank keeps if a framework trains its part of the model:

  tools/plan --models=GPT-3-175B --precision=bf16 --batch=1 --seq=2048 \\
    --tensor_ranks=8 --recipe=megatron --shards=16

Or what parallel training sends, and on how many devices and from which batch
it pays off; tools/plan --parallel --help lists its flags:

  tools/plan --parallel --fsdp_ranks=8 --tensor_ranks=8

--gpu=h100 runs tools/rehearse: cases on a GPU that you do not have, and with
--mesh one rank of many. For a model on 8 GPUs:

  {_MESH}
"""


def _add_steps(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--models",
        type=words,
        metavar="NAMES",
        help=f"models, separated by commas: {', '.join(_STANDARD)}; gpt2, gpt2-medium, "
        "gpt2-large, gpt2-xl, with the sizes and the vocabulary of GPT-2 (but with "
        "three feed-forward matrices and an untied head, and so more parameters); 8B; "
        "a published model, for example GPT-2-1.5B, MPT-7B, Llama-3-8B or "
        "Nemotron-4-15B; or a name that --model defines (default: the first six and "
        "the models of --model)",
    )
    add(
        "--model",
        action="append",
        default=[],
        metavar="DEFINITION",
        help="defines another model; may be repeated: "
        "name=mine,d_model=512,d_ff=2048,layers=6,heads=8 and optionally vocab=32000 "
        "(default 10000), pad_vocab=128, kv_heads=2, tied_embeddings=true, mlp=gelu, "
        "norm=layer, biases=all, positions=learned,context=1024, attention=sdpa "
        "(default naive), implementation=fused (default textbook) and "
        "checkpoint=every_1 (default none)",
    )
    ranks = "tensor-parallel ranks that share each model; the answer is for the first"
    for flag, default, what in (
        ("batch", 4, "sequences per step"),
        ("seq", 512, "tokens per sequence"),
        ("tensor_ranks", 1, ranks),
    ):
        kind, text = count(1, 2**20), f"{what} (default: {default})"
        add(f"--{flag}", type=kind, metavar="N", default=default, help=text)
    widths = "fp32, tf32, bf16_autocast, bf16 (weights, gradients and AdamW's moments)"
    modes = "inference, forward, forward_backward, train_step"
    for flag, one, what in (
        ("precision", "fp32", widths),
        ("mode", "train_step", modes),
    ):
        text = f"{what}, separated by commas (default: {one})"
        add(f"--{flag}", type=words, metavar="NAMES", default=[one], help=text)
    add(
        "--checkpoint",
        type=words,
        metavar="NAMES",
        help="none, attention, every_1, every_2, ..., every_sqrt, separated by commas: "
        "the activations that the backward pass recomputes instead of storing them: "
        "the attention scores, or segments of this many blocks; compares the largest "
        "batch and context that fit, and the FLOPs of the recomputation (default: "
        "--model's value, otherwise none)",
    )
    for flag, what, otherwise in (
        ("implementation", "textbook, library or fused", "the framework's of --recipe"),
        ("attention", "for example naive or sdpa", "the implementation's"),
    ):
        usual = f"(default: --model's value, otherwise {otherwise})"
        add(f"--{flag}", metavar="NAME", help=f"of all models: {what} {usual}")
    add(
        "--device_memory_gib",
        type=number(1e-6, 1e6),
        metavar="GIB",
        help="memory of the device (default: with --rates its own, otherwise 80)",
    )


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser(
        _DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    add = parser.add_argument
    add("-h", "--help", action="store_true", help="print this and exit")
    add("--json", action="store_true", help="print JSON, with raw numbers")
    add("--parallel", action="store_true", help="formulas of parallel training instead")
    _add_steps(parser)
    for group in (training, timing, recipes):
        group.add_flags(parser)
    return parser


def _requests(
    given: argparse.Namespace, memory_bytes: int, traits: frozenset[str]
) -> list[Json]:
    """A request for each precision, mode, checkpointing and model; the model varies
    fastest."""
    layers = ("implementation", "attention")
    shared = {
        **{"definitions": given.model, "batch": given.batch, "seq": given.seq},
        **{"tensor_ranks": given.tensor_ranks, "memory_bytes": memory_bytes},
        "largest_batch": given.json or given.checkpoint is not None,
        **{name: value for name in layers if (value := vars(given)[name])},
    }

    def of_model(model: str, checkpoint: Json) -> Json:
        """With --recipe, layers that nothing states are the framework's."""
        asked = {"model": model, **checkpoint, **shared}
        named = (one for one in given.model if f"name={model}" in one.split(","))
        definition = next(named, model)
        is_stated = any(f"{name}=" in definition for name in layers)
        if not given.recipe or given.implementation or is_stated:
            return asked
        chosen = checkpoint.get("checkpoint", definition.partition("checkpoint=")[2])
        return recipes.layers(given.recipe, traits, chosen) | asked

    checkpoints = [{"checkpoint": name} for name in given.checkpoint or ()]
    models = given.models or [*_STANDARD, *given.model]
    return [
        of_model(model, checkpoint) | {"precision": precision, "mode": mode}
        for precision, mode, checkpoint, model in itertools.product(
            given.precision, given.mode, checkpoints or [{}], models
        )
    ]


def main(tokens: Sequence[str], ask: Ask = RUN) -> int:
    if "--parallel" in tokens:
        return parallel.main(tokens)
    parser = _parser()
    hints = dict.fromkeys(parallel.flags(), "allowed: only with --parallel")
    hints |= {"--mesh": "allowed: only with --gpu", "--gpus": f"for a model: {_MESH}"}
    hints["--ranks"] += f"; for a model: {_MESH}"
    given = arguments.parse(parser, tokens, hints)
    if given.help:
        print(parser.format_help(), end="")
        return 0
    arguments.check(parser, given, _RULES)
    for name in (text for text in given.model if "=" not in text):
        parser.error(f"--model is {name!r}; did you mean '--models={name}'?")
    # Functions that predict something for a row of the plan, by its key in the row.
    predict: dict[str, Callable[..., dict[str, Any]]] = {}
    more: dict[str, Any] = {}  # of the query
    if given.mfu or given.measured:
        predict["training"] = partial(training.predicted, training.rates(parser, given))
        more |= training.query(given)
    capacity: float | None = None
    if given.rates is not None:
        device = timing.device(parser, given.rates)
        predict["time"] = partial(timing.predicted, device)
        more["device"], capacity = device.name, device.capacity
    traits = recipes.traits(parser, given) if given.recipe else frozenset[str]()
    if given.recipe:
        predict["recipe"] = partial(recipes.predicted, given, traits)
    memory_bytes = capacity or 80 * 2**30
    if given.device_memory_gib is not None:
        memory_bytes = given.device_memory_gib * 2**30
    requests = _requests(given, int(memory_bytes), traits)
    # All are checked first, so that an error comes before any long plan.
    for request in requests:
        ask(request | {"check": True})
    rows = [ask(request) for request in requests]
    query = {
        **{"batch": given.batch, "seq": given.seq, "tensor_ranks": given.tensor_ranks},
        "device_memory_bytes": int(memory_bytes),
        "models": [*dict.fromkeys(row["model"] for row in rows)],
        **{"precisions": given.precision, "modes": given.mode},
        **({"checkpoints": given.checkpoint} if given.checkpoint else {}),
        **more,
    }
    try:
        for row in rows:
            for key, predicted in predict.items():
                row[key] = predicted(row, query)
            del row["operators"]
    except ValueError as error:
        parser.error(str(error))
    document = {"query": query, "rows": rows}
    render = models_text.render
    print(json.dumps(document, indent=2) if given.json else render(document))
    return 0
