# SPDX-License-Identifier: MIT
"""Makes a page of a result: tables, plots and answers, in HTML and in Markdown."""
