# SPDX-License-Identifier: MIT
"""False alarms on stored times of one binary: compare.py and our rule."""

import math

import numpy as np

from reports.calibration import stock
from reports.calibration.rule import (
    Flags,
    Lines,
    Verdicts,
    abba,
    in_sequence,
    ratios,
    share_of,
)
from reports.calibration.samples import Floats, Samples, share_between
from reports.calibration.simulated import SEED, THRESHOLD, margins_of
from reports.compare.intervals import Pair
from reports.compare.sequential import Plan, decide_in_sequence

REPETITIONS = (3, 6, 9)
RELABELLINGS = 2000


def short(name: str) -> str:
    """Returns the name of a case without its sizes."""
    return "/".join(part for part in name.split("/") if ":" not in part)


def stock_alarms(times: Floats, repetitions: int, apart: int | None) -> Flags:
    """Returns alarms [pair, row] for all pairs of processes, or those `apart` apart."""
    base, new = np.triu_indices(len(times), 1)
    chosen = slice(None) if apart is None else new - base == apart
    first = times[:, :, :repetitions]
    return stock.alarms(first[base[chosen]], first[new[chosen]])


def stock_rows(samples: Samples) -> Lines:
    """Tabulates compare.py's alarms with nine repetitions per side, row by row."""
    yield ["row", "share between processes", "any two processes", "neighbors"]
    all_ = stock_alarms(samples.times, 9, None)
    near = stock_alarms(samples.times, 9, 1)
    for i, name in enumerate(samples.rows):
        between = share_between(np.log(samples.times[:, i]))
        shares = (share_of(found[:, i]) for found in (all_, near))
        yield [f"`{short(name)}`", f"{between:.2f}", *shares]
    tables = (share_of(found.any(axis=1)) for found in (all_, near))
    yield ["at least one of them", "", *tables]


def stock_repetitions(samples: Samples) -> Lines:
    yield ["repetitions", "of a row", "of the table"]
    for repetitions in REPETITIONS:
        found = stock_alarms(samples.times, repetitions, None)
        yield [str(repetitions), share_of(found), share_of(found.any(axis=1))]


def relabeled(samples: Samples, threshold: float) -> Verdicts:
    """Decides on pairs of neighbors; a coin decides which process is the new one."""
    rng = np.random.default_rng([SEED, 500])
    logs = np.log(samples.medians)[None]
    pairs = logs.shape[1] // 2
    coins = rng.random((RELABELLINGS, pairs)) < 0.5
    plan = Plan(rows=len(samples.rows), max_pairs=pairs)
    return in_sequence(ratios(logs, coins), plan, threshold)


def ours(samples: Samples) -> Lines:
    heads = ["difference", "of a row", "REGRESSED", "IMPROVED"]
    yield [*heads, "either, of the table"]
    for words, threshold in (("any", 0.0), ("2 %", THRESHOLD)):
        found = relabeled(samples, threshold)
        either = found.regressed | found.improved
        kinds = (found.regressed, found.improved, either)
        tables = (share_of(kind.any(axis=1)) for kind in kinds)
        yield [words, share_of(either), *tables]


def one_a_side(samples: Samples) -> Lines:
    """Compares processes of one half of the run, given the spread of the other half."""
    heads = ["spread known from", "by the spread alone, of a row", "of the table"]
    yield [*heads, "by the rule, of a row", "of the table"]
    logs = np.log(samples.medians)
    half = len(logs) // 2
    alpha = 0.05 / logs.shape[1] / 2
    for words, known, others in (
        ("the first half", logs[:half], logs[half:]),
        ("the second half", logs[half:], logs[:half]),
    ):
        ratio = others[:, None] - others[None, :]
        apart = ratio[~np.eye(len(others), dtype=bool)]
        cells = [words]
        for margin in margins_of(known[None], alpha):
            found = apart > margin + math.log1p(THRESHOLD)
            cells += [share_of(found), share_of(found.any(axis=1))]
        yield cells


def as_it_was(samples: Samples) -> Lines:
    """Tabulates the verdicts if the actual order of processes had been A B B A."""
    yield ["row", "new / base", "interval", "verdict"]
    logs = np.log(samples.medians)[None]
    by_row = ratios(logs, abba(logs.shape[1] // 2))[0].T.tolist()
    plan = Plan(rows=len(by_row), max_pairs=len(by_row[0]))
    for name, log_ratios in zip(samples.rows, by_row, strict=True):
        pairs = [Pair(ratio) for ratio in log_ratios]
        decision = decide_in_sequence(pairs, plan, THRESHOLD, ended=True)
        low, high = decision.interval.ratios if decision.interval else (0.0, math.inf)
        numbers = (f"{decision.ratio:.3f}", f"{low:.3f} to {high:.3f}")
        yield [f"`{short(name)}`", *numbers, decision.verdict.value]
