# SPDX-License-Identifier: MIT
"""The setup shared by all tests in Python."""

import signal

# A shell makes its background jobs ignore Ctrl-C, and their children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
