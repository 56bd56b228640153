# SPDX-License-Identifier: MIT
"""The kinds of noise under which false alarms are counted."""

from reports.calibration.noise import Noise

SCENARIOS = (
    Noise("each process and row differs by 2 %"),
    Noise("a process shifts all rows alike", common=True),
    Noise("steady drift, twice as slow in the end", drift=0.69),
    Noise("a neighbour that comes and goes, 50 %", neighbour=0.4),
    Noise("each process resembles the one before (0.5)", memory=0.5),
    Noise("5 % of the processes are 1.3 to 3 times slower", outliers=0.05),
    Noise("the same, in all rows alike", outliers=0.05, common=True),
    Noise("delays only", skewed=True),
    Noise(
        "all of that",
        drift=0.69,
        neighbour=0.4,
        memory=0.5,
        outliers=0.05,
        skewed=True,
    ),
    Noise("a neighbour in step with A B B A, 5 %", neighbour=0.05, rhythm=True),
)
