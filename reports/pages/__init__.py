# SPDX-License-Identifier: MIT
"""A result as a page: tables, plots and answers, in HTML and in Markdown."""
