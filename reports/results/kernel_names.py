# SPDX-License-Identifier: MIT
"""Kernel names, short enough for a line."""

import re

_NOISE = re.compile(
    r"^void |\(anonymous namespace\)::|<unnamed>::|\b(?:at|c10|native|cuda|std)::"
)
# The template arguments of an elementwise or reduction kernel name its operation.
_WORK = re.compile(r"\b\w*(?:Functor\w*|functor|Ops|Op|_kernel_cuda|_kernel_impl)\b")
_WRAPPERS = re.compile(r"^(?:gpu_kernel_impl|BinaryFunctor|ReduceOp|func_wrapper_t)")
_TYPES = re.compile(r"\b(?:float|double|BFloat16|Half|long|int|bool)\b(?![*&])")
# CUPTI's names; their parentheses do not contain arguments.
_MEMORY = ("Memcpy ", "Memset ")


def bare(kernel: str) -> str:
    """Returns the function's name without types, arguments and namespaces."""
    name = _NOISE.sub("", kernel)
    return re.split(r"[<(]", name, maxsplit=1)[0].rpartition("::")[2]


def shortened(kernel: str) -> str:
    """Returns the function's name with its operation and data type."""
    if kernel.startswith(_MEMORY):
        return kernel
    name = bare(kernel)
    rest = _NOISE.sub("", kernel)[len(name) :]
    work = [word for word in _WORK.findall(rest) if not _WRAPPERS.match(word)]
    found = list(dict.fromkeys([*work, *_TYPES.findall(rest)[:1]]))
    return f"{name} of {', '.join(found)}" if found else name
