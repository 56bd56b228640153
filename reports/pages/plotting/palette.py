# SPDX-License-Identifier: MIT
"""The colors of all plots."""

# Okabe and Ito's colors, which remain distinct for color-blind people. Black becomes
# the text color of the page, so that it is visible on a dark page, too.
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
PAPER = "#fffffe"  # the background of the page
# Thin lines and small points in yellow are invisible on white.
CLEAR_COLOURS = (*(colour for colour in COLOURS if colour != "#F0E442"), "#777777")
