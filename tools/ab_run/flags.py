# SPDX-License-Identifier: MIT
"""Splits a command line into flags of tools/ab, revisions, and program flags."""

from collections.abc import Mapping, Sequence

from tools.ab_run.errors import Usage

# Program flags that tools/ab sets itself, or with which the program measures nothing.
_RESERVED = set(
    """
    benchmark_out benchmark_out_format processes resume rounds samples_out shuffle
    benchmark_list_tests list version
    """.split()
)


def _name(token: str) -> str:
    """The name of a flag; "" for another token."""
    return token.lstrip("-").partition("=")[0] if token.startswith("-") else ""


def split(
    tokens: Sequence[str], own: Mapping[str, int]
) -> tuple[list[str], list[str], list[str]]:
    """Returns flags of tools/ab, revisions, and program flags.

    `own` maps each flag of tools/ab to its number of values.
    """
    ours: list[str] = []
    revisions: list[str] = []
    program: list[str] = []
    rest = list(tokens)
    value_may_follow = False  # as in `--device cpu`
    while rest:
        token = rest.pop(0)
        if _name(token) in own:
            values = 0 if "=" in token else own[_name(token)]
            flag, given, rest = f"--{token.lstrip('-')}", rest[:values], rest[values:]
            # A filter may begin with a dash.
            ours += [f"{flag}={given[0]}"] if len(given) == 1 else [flag, *given]
            value_may_follow = False
        elif token.startswith("-") or value_may_follow or len(revisions) == 2:
            program.append(token)
            value_may_follow = token.startswith("-") and "=" not in token
        else:
            revisions.append(token)
    return ours, revisions, program


def sets_sampling(tokens: Sequence[str]) -> bool:
    """Whether these program flags set how long, or how often, a case is called."""
    return not {"benchmark_min_time", "samples"}.isdisjoint(map(_name, tokens))


def program_flags(tokens: Sequence[str]) -> list[str]:
    for token in tokens:
        if _name(token) in _RESERVED:
            raise Usage(f"--{_name(token)} is not for a run of pairs; see --out")
    return list(tokens)
