"""What can be wrong, with fields. All but `StepError` and `ResultError` are a `ValueError` too."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Any refusal of Percale that is more than a wrong argument."""

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        for name, value in fields.items():
            setattr(self, name, value)
        self._fields = fields

    def __reduce__(self) -> Any:  # exceptions with fields go through pickles, and so from workers to clients
        return _made, (type(self), str(self), self._fields)


def _made(kind: type[Error], message: str, fields: dict[str, Any]) -> Error:
    return kind(message, **fields)


class MeshError(Error, ValueError):
    """Faces or positions that are unusable."""

    argument: str | None = None
    vertex: int | None = None
    face: int | None = None


class StartError(Error, ValueError):
    """A start that cannot be certified; if faces cross, how many pairs, and the first of them."""

    argument: str | None = None
    count: int | None = None
    faces: list[int] | None = None
    bodies: list[str] | None = None
    vertex: int | None = None


class SceneError(Error, ValueError):
    """A scene that cannot be read: where (a key or a file), and in which line of the file."""

    place: str | None = None
    line: int | None = None


class StepError(Error):
    """No way was found; what was there before is untouched.

    `kind` is `unresolved` (impacts are left), `pinched` (scripted parts leave no room; `pinch` has the proof), `new_path`,
    `crossing`, `bad_candidate` or `bad_value`.
    """

    kind: str = ""
    frame: int | None = None
    count: int | None = None
    vertices: list[int] | None = None
    faces: list[int] | None = None
    bodies: list[str] | None = None
    pinch: dict[str, Any] | None = None


class ResultError(Error):
    """A result folder that cannot be written, read or continued."""

    path: str | None = None
