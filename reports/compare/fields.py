# SPDX-License-Identifier: MIT
"""Typed access to the fields of a JSON object, with a check of each."""

from collections.abc import Sequence
from typing import Any, TypeVar

from reports.results.checked_entry import is_number, shown

T = TypeVar("T")


class WrongField(ValueError):
    """The message names the field and the reason, in one line."""


class Fields:
    def __init__(self, document: Any, name: str) -> None:
        if not isinstance(document, dict):
            raise WrongField(f"{name} is {shown(document)}; expected an object")
        self._document = document
        self._name = name

    def __contains__(self, key: str) -> bool:
        return key in self._document

    def __getitem__(self, key: str) -> Any:
        if key not in self._document:
            raise WrongField(f"{self._name} lacks {key}")
        return self._document[key]

    def shown(self, key: str) -> str:
        return shown(self[key])

    def wrong(self, key: str, expected: str) -> WrongField:
        return WrongField(
            f"{key} of {self._name} is {self.shown(key)}; expected: {expected}"
        )

    def inner(self, key: str) -> "Fields":
        return Fields(self[key], key)

    def all_inner(self, key: str) -> list["Fields"]:
        if not isinstance(self[key], list):
            raise self.wrong(key, "a list")
        return [Fields(item, f"{key}[{i}]") for i, item in enumerate(self[key])]

    def word(self, key: str) -> str:
        value = self[key]
        if not isinstance(value, str):
            raise self.wrong(key, "a text")
        return value

    def word_or_none(self, key: str) -> str | None:
        return None if self[key] is None else self.word(key)

    def words(self, key: str) -> list[str]:
        value = self[key]
        if not (isinstance(value, list) and all(isinstance(v, str) for v in value)):
            raise self.wrong(key, "a list of texts")
        return value

    def flag(self, key: str) -> bool:
        value = self[key]
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def whole(self, key: str, least: int) -> int:
        value = self[key]
        if not (is_number(value) and isinstance(value, int) and value >= least):
            raise self.wrong(key, f"a whole number, {least} or more")
        return value

    def number(self, key: str, least: float) -> float:
        value = self[key]
        if not (is_number(value) and value >= least):
            raise self.wrong(key, f"a number, {least:g} or more")
        return float(value)

    def between(self, key: str, low: float, high: float) -> float:
        """A number in the open interval."""
        value = self[key]
        if not (is_number(value) and low < value < high):
            raise self.wrong(key, f"a number between {low:g} and {high:g}")
        return float(value)

    def one_of(self, key: str, allowed: Sequence[T]) -> T:
        for value in allowed:
            if self[key] == value:
                return value
        raise self.wrong(key, f"one of {', '.join(map(str, allowed))}")
