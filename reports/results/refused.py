# SPDX-License-Identifier: MIT
"""What ends a command: reports/command.py prints the reason, which is one line."""


class Refused(Exception):
    status = 2  # wrong usage
