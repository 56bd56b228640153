# SPDX-License-Identifier: MIT
"""The command tools/plan."""

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tools.planner import arguments, models_text, parallel, recipes, timing, training
from tools.planner.program import RUN, Ask

_RULES = (*training.RULES, ("rates", "without", ("recipe",)), *recipes.RULES)
_DESCRIPTION = """\
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
--mesh one rank of many.
"""


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser(
        _DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    add = parser.add_argument
    add("--help", action="store_true", help="print this and exit")
    add("--json", action="store_true", help="print JSON, with raw numbers")
    for group in (training, timing, recipes):
        group.add_flags(parser)
    return parser


def _refuse_misplaced(parser: argparse.ArgumentParser, flags: Sequence[str]) -> None:
    only = dict.fromkeys(parallel.flags(), "--parallel") | {"--mesh": "--gpu"}
    for token in flags:
        name = f"--{token.lstrip('-').partition('=')[0]}"
        if token.startswith("-") and name == "--parallel":
            parser.error(f"unexpected {token!r}; allowed: --parallel, without a value")
        if token.startswith("-") and name in only:
            parser.error(f"unexpected {token!r}; allowed: only with {only[name]}")


def main(tokens: Sequence[str], ask: Ask = RUN) -> int:
    """The program reads the other flags."""
    if "--parallel" in tokens:
        return parallel.main(tokens)
    parser = _parser()
    given, flags = parser.parse_known_args(tokens)
    _refuse_misplaced(parser, flags)
    arguments.check(parser, given, _RULES)
    # Functions that predict something for a row of the plan, by its key in the row.
    predict: dict[str, Callable[..., dict[str, Any]]] = {}
    more: dict[str, Any] = {}  # of the query
    if given.mfu or given.measured:
        predict["training"] = partial(training.predicted, training.rates(parser, given))
        more |= training.query(given)
    if given.rates is not None:
        device = timing.device(parser, given.rates)
        predict["time"] = partial(timing.predicted, device)
        more["device"] = device.name
        flags.append("--operators")
        given_memory = (
            one.lstrip("-").startswith("device_memory_gib") for one in flags
        )
        if device.capacity is not None and not any(given_memory):
            flags.append(f"--device_memory_gib={device.capacity / 2**30:.13g}")
    if given.recipe:
        traits = recipes.traits(parser, given)
        predict["recipe"] = partial(recipes.predicted, given, traits)
    if given.help:
        flags.append("--help")
    if given.json:
        flags.insert(0, "--largest_batch")
    document = ask(flags)
    if given.help:
        print(parser.format_help(), document["help"], sep="\n", end="")
        return 0
    document["query"] |= more
    try:
        for row in document["rows"]:
            for key, predicted in predict.items():
                row[key] = predicted(row, document["query"])
    except ValueError as error:
        parser.error(str(error))
    render = models_text.render
    print(json.dumps(document, indent=2) if given.json else render(document))
    return 0
