# SPDX-License-Identifier: MIT
"""The colours of all plots."""

# Okabe and Ito's colours, which people with colour-blindness can tell apart.
# Black is whatever the page writes in, so that it shows on a dark page too.
COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#F0E442",
    "#000000",
)
GRID = "#e3e3e3"
PAPER = "#fffffe"  # the page's own, to set letters off what is behind them
