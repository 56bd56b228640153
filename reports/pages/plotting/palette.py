# SPDX-License-Identifier: MIT
"""The colours of all plots."""

# Okabe and Ito's colours, which remain distinct for colour-blind people. Black becomes
# the text colour of the page, so that it is visible on a dark page too.
BLACK = "#000000"
COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#F0E442",
    BLACK,
)
GRID = "#e3e3e3"
PAPER = "#fffffe"  # the background of the page, to set text off from a plot
# Thin lines and small points in yellow are invisible on white.
CLEAR_COLOURS = (*(colour for colour in COLOURS if colour != "#F0E442"), "#777777")
