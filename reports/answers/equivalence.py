# SPDX-License-Identifier: MIT
"""Whether several ranks train the model that one process trains."""

from reports.answers.comparing import listed
from reports.answers.shapes import number_of
from reports.results import text
from reports.results.rows import Result, Row

_MAX, _MEAN = "max_difference", "mean_difference"


def _parameters(row: Row) -> list[str]:
    """Those that the row has differences of."""
    return sorted(
        name.removesuffix(f"_{_MAX}")
        for name in row.counters
        if name.endswith(f"_{_MAX}")
    )


def _sentence(row: Row) -> str:
    steps, ranks = number_of(row, "steps"), number_of(row, "ranks")
    return (
        f"with {row.words['strategy']}, {ranks} ranks, after {steps} steps, by at most "
        f"{text.significant(row[_MAX])}, {text.significant(row[_MEAN])} on average"
    )


def ddp_equivalence(result: Result) -> tuple[str, text.Table] | None:
    rows = [row for row in result.of("ddp_equivalence") if _MAX in row.counters]
    if not rows:
        return None
    losses = max(row["loss_difference"] for row in rows)
    told = listed([_sentence(row) for row in rows])
    sentence = (
        f"The parameters differ from those of one process {told}; no loss differs by "
        f"more than {text.significant(losses)}."
    )
    lines = [
        [
            f"{row.words['strategy']}, {number_of(row, 'ranks')} ranks: {parameter}",
            text.significant(row[f"{parameter}_{_MAX}"]),
            text.significant(row[f"{parameter}_{_MEAN}"]),
        ]
        for row in rows
        for parameter in _parameters(row)
    ]
    lines += [
        [
            f"{row.words['strategy']}, {number_of(row, 'ranks')} ranks: last loss "
            f"{text.significant(row['loss'], 6)}",
            text.significant(row["loss_difference"]),
            "-",
        ]
        for row in rows
    ]
    return sentence, text.Table(
        ["strategy: parameter or loss", "largest difference", "mean"], lines
    )
