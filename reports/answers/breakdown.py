# SPDX-License-Identifier: MIT
"""Where the time of a step goes."""

from dataclasses import dataclass

from reports.answers import kernels, ranges
from reports.answers.cells import shown
from reports.answers.conclusions import CANNOT_TELL
from reports.answers.measured import Measured, counter_of, exactly, time_of
from reports.answers.shapes import STEP, shape_text, step_text
from reports.results import text
from reports.results.profiles import Profile
from reports.results.rows import NotAResult, Result, Row, grouped

_NOT_PARTS = ("all", "block", "recompute", "timed", "unattributed")
# A profile counts as the timed step if its time differs by at most this fraction.
MOST_APART = 0.15


@dataclass
class Step:
    """A profiled step."""

    rows: list[Row]
    profile: Profile | None = None
    inference: "Step | None" = None  # of the same model; only of the step to show

    def __post_init__(self) -> None:
        of = {
            (row.words.get("phase", ""), row.words.get("component", "")): row
            for row in self.rows
        }
        # By phase and component, gaps included.
        self.parts = {key: row for key, row in of.items() if key[1] not in _NOT_PARTS}
        self.phases = {phase: row for (phase, part), row in of.items() if part == "all"}
        self.whole = self.phases.pop("step", None)
        timed = (row for (_, part), row in of.items() if part == "timed")
        self.timed = next(timed, None)

    @property
    def name(self) -> str:
        return step_text(self.whole or self.rows[0])

    @property
    def row(self) -> Row:
        """The row of the whole step. Errors: NotAResult, if the result lacks it."""
        if self.whole is None:
            raise NotAResult(f"{self.name} lacks the row of the whole step")
        return self.whole

    def of(self, *components: str) -> list[Row]:
        """Returns the rows of these components in all phases."""
        return [row for (_, part), row in self.parts.items() if part in components]

    @property
    def shares(self) -> dict[str, Measured]:
        """The components' shares of the step, largest first; interval ends add, as
        phases may correlate, but a share is at most 1."""
        found = {}
        for component in dict.fromkeys(component for _, component in self.parts):
            each = [counter_of(row, "share") for row in self.of(component)]
            low, high = sum(share.low for share in each), sum(s.high for s in each)
            value = sum(share.value for share in each)
            found[component] = Measured(value, low, min(1.0, high))
        return dict(sorted(found.items(), key=lambda item: -item[1].value))


def matmul_share(row: Row) -> Measured:
    return counter_of(row, "matmul_share") if row.get("matmul_share") else exactly(0)


def _beside_timed(step: Step) -> str:
    """Compares the profiled step with the same step without a profile."""
    if step.whole is None or step.timed is None:
        return ""
    ratio = time_of(step.whole) / time_of(step.timed)
    limits = 1 / (1 + MOST_APART), 1 + MOST_APART
    times = f"{ratio.text()} times the timed one's {text.time(step.timed.time_us)}"
    if ratio.outside(*limits):
        return (
            f"The profile is not the timed step: it takes {times}, so these shares may "
            "not be the timed step's."
        )
    if ratio.within(*limits):
        return f"The profiled step takes {times}."
    return f"Whether the profile is the timed step {CANNOT_TELL}: it takes {times}."


def _outliers(step: Step) -> str:
    found = [
        f"{phase} {row.findings['outliers']}"
        for phase, row in step.phases.items()
        if "outliers" in row.findings
    ]
    return f"Slower than the other layers: {'; '.join(found)}." if found else ""


def _unattributed(step: Step) -> str:
    lost = step.whole.get("unattributed_share") if step.whole else None
    if lost is None:
        return ""
    return f"{text.percent(lost)} of `{step.name}` could not be attributed."


def profiled(result: Result) -> dict[tuple[str, ...], Step]:
    """Returns the steps by model, precision, mode and shape, in run order."""

    def key(row: Row) -> tuple[str, ...]:
        return (*(row.words.get(word, "") for word in STEP), shape_text(row))

    by_step = grouped(result.of("breakdown"), key)
    return {k: Step(rows, result.profile_of(rows)) for k, rows in by_step.items()}


def shown_step(result: Result) -> Step | None:
    """Returns the step to show: the last train step of a run is the largest."""
    return next(iter(_shown_first(result)), None)


def _shown_first(result: Result) -> list[Step]:
    """Returns all steps, the one to show first."""
    found = profiled(result)
    if not found:
        return []
    training = [key for key in found if key[2] == "train_step"]
    model, precision, mode, shape = (training or list(found))[-1]
    step = found.pop((model, precision, mode, shape))
    if mode != "inference":
        step.inference = found.get((model, precision, "inference", shape))
    return [step, *found.values()]


def sentence(result: Result) -> str:
    """States what no table has of the step to show; "" if there is nothing."""
    step = shown_step(result)
    if step is None or not step.phases or not step.parts:
        return ""
    parts = (_beside_timed(step), _outliers(step), _unattributed(step))
    return " ".join(filter(None, parts))


def table_of(step: Step) -> text.Table | None:
    """Makes a table: columns for each phase, the step, and the model's inference."""
    if not step.phases or not step.parts:
        return None
    wholes = {"step": step}
    if step.inference:
        wholes["inference"] = step.inference
    rows = [*step.phases.values(), *(one.whole for one in wholes.values())]
    lines = []
    for name, share in step.shares.items():
        parts = (step.parts.get((phase, name)) for phase in step.phases)
        cells = [text.percent(part["share"]) if part else "-" for part in parts]
        cells.append(share.plus_minus(text.percent))
        if step.inference:
            other = step.inference.shares.get(name)
            cells.append(text.percent(other.value) if other else "-")
        lines.append([name, *cells])
    shares = [
        matmul_share(row).plus_minus(text.percent) if row else "-" for row in rows
    ]
    lines.append(["matrix products, of each column", *shares])
    lines.append(["time, profiled", *map(_time, rows)])
    timed = [one.timed for one in wholes.values()]
    if any(timed):
        own = step.timed
        phases = [shown(own, f"{phase}_us") if own else "-" for phase in step.phases]
        lines.append(["time without a profile", *phases, *map(_time, timed)])
    headings = ["component", *step.phases, *wholes]
    return text.Table(headings, lines, f"Shares of {step.name}")


def _time(row: Row | None) -> str:
    return text.time(row.time_us) if row else "-"


def tables(result: Result) -> list[text.Table]:
    """Makes the table of the components of the step to show."""
    step = shown_step(result)
    table = table_of(step) if step else None
    return [table] if table else []


def forward_table(result: Result) -> text.Table | None:
    """Compares the forward pass of every step with and without a profile."""
    lines = []
    for step in profiled(result).values():
        forward, timed = step.phases.get("forward"), step.timed
        if forward is None or timed is None or timed.get("forward_us") is None:
            continue
        one, other = time_of(forward), counter_of(timed, "forward_us")
        times = [us.plus_minus(text.time) for us in (one, other)]
        apart = (one / other).text(), text.time(one.value - other.value)
        lines.append([step_text(forward), *times, *apart])
    headings = ["step", "profiled", "timed", "profiled over timed", "difference"]
    title = "The forward pass of each step with and without a profile"
    return text.Table(headings, lines, title=title) if lines else None


def details(result: Result) -> list[text.Table]:
    """Makes the tables of all steps' profiles, the step to show first. A null GPU has
    no times."""
    steps = _shown_first(result)
    tables = [] if result.of_null_gpu else [forward_table(result)]
    for step in steps:
        if step is not steps[0] and not result.of_null_gpu:
            tables.append(table_of(step))
        if step.profile:
            inference = step.inference.profile if step.inference else None
            tables += [
                kernels.top_table(step.profile, step.name),
                kernels.families_table(step.profile, inference, step.name),
                kernels.kernels_table(step.profile, step.name),
                ranges.ranges_table(step.profile, step.name),
                ranges.layers_table(step.profile, step.name),
                ranges.copies_table(step.profile, step.name),
            ]
    return [table for table in tables if table is not None]
