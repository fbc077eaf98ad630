"""Many runs of one scene."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _arrays, _percale
from ._scenes import SceneLike, Source, source_of


def _text(value: Any, is_within: bool = False) -> str:
    """A value as `--vary` takes it: TOML, or, by itself, a bare word."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_text(item, True) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {_text(item, True)}" for key, item in value.items()) + " }"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        return json.dumps(text) if is_within else text
    raise ValueError(f"vary: a {type(value).__name__} cannot be a value; write numbers, texts, lists or dictionaries")


def sweep(
    scene: SceneLike,
    vary: Mapping[str, Sequence[Any]],
    out: str | os.PathLike[str],
    *,
    frames: int | None = None,
    small: bool = False,
    set: Mapping[str, Any] | None = None,
    shard: tuple[int, int] = (1, 1),
    client: Any = None,
    base: Any = None,
) -> list[dict[str, Any]]:
    """Runs every combination of values, each into a folder of its own, and writes `totals.csv`: as `percale sweep` does.

    What is there already is kept, what was interrupted is continued; a run that fails is listed with its message, and the others
    go on. With a `distributed.Client` (extra `percale[dask]`) the runs are spread over its workers, which must see the folder; the
    folders and hashes are the same. `shard=(i, n)` takes every n-th run only.

    Returns one row for each run: `folder`, `changes`, `status` (`done`, `stopped`, `failed`, `begun`, `open`), `hash`, `totals`,
    `message`.

    >>> import percale, tempfile
    >>> rows = percale.sweep("drop", {"friction": [0.1, 0.3]}, tempfile.mkdtemp(), frames=1, set={"cloth.0.shape.cells": [4, 4]})
    >>> [(row["folder"], row["status"]) for row in rows]
    [('friction=0.1', 'done'), ('friction=0.3', 'done')]
    """
    if not isinstance(vary, Mapping):
        raise ValueError("vary: it must be a dictionary of keys and lists of values, e.g. {'friction': [0.1, 0.3]}")
    axes = []
    for key, values in vary.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            raise ValueError(f"vary: the values of {key} must be a list")
        axes.append((str(key), [_text(value) for value in values]))
    source = source_of(scene, small, set, base)
    wanted = None if frames is None else _arrays.count("frames", frames)
    first, of = _arrays.pair("shard", shard, "the number of this shard, from 1, and how many there are")
    if not 1 <= _arrays.count("shard", first) <= _arrays.count("shard", of):
        raise ValueError(f"shard: ({first}, {of}); write (1, n) to (n, n)")
    folder = os.path.abspath(os.fspath(out))
    names = [name for name, _ in _percale.cases(axes)]
    own = names[first - 1 :: of]
    _percale.check_cases(source, axes, own, folder, wanted)
    os.makedirs(folder, exist_ok=True)
    if client is None:
        for name in own:
            _run_case(source, axes, name, folder, wanted)
    else:
        # a worker that dies is no fault of its run: it is given to the next one, which continues it
        tasks = [client.submit(_run_case, source, axes, name, folder, wanted, pure=False, retries=3) for name in own]
        client.gather(tasks)
    return _percale.table(source, axes, folder, wanted)


def _run_case(source: Source, axes: Any, name: str, out: str, frames: int | None) -> str:
    return str(_percale.run_case(source, axes, name, out, frames)["status"])
