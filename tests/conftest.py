# SPDX-License-Identifier: MIT
"""What all tests written in Python share."""

import signal

# A shell lets what it runs in the background ignore Ctrl-C, and children inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)
