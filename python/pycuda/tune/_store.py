"""The best variants of earlier runs, in the cache of compiled kernels.

An entry is a file beside the compiled code, ``5f/5f0c...e1.image``, whose first line says that it is an entry of this
module. So entries count for the size of the cache, old ones are removed with old code, and
``python -m pycuda cache --clear`` removes all. An entry that cannot be read is no entry, and one that cannot be written is
not kept; as for compiled code, this is not an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pycuda._cache_folder import cache_directory
from pycuda.tune._result import Variant
from pycuda.tune._space import Configuration

_FIRST_LINE = b"PyCUDA tuned 1\n"
_HOUR = 3600


def key_of(parts: object) -> str:
    """The name of the entry for everything that determines the best variant: an object that JSON can describe."""
    text = json.dumps(parts, sort_keys=True, default=repr)
    return hashlib.sha256(_FIRST_LINE + text.encode()).hexdigest()


class Store:
    """The entries in a folder.

    cache_dir: None selects the user's cache folder, False none.
    """

    def __init__(self, cache_dir: str | os.PathLike | bool | None) -> None:
        self._folder: Path | None = None
        if cache_dir is None and not os.environ.get("PYCUDA_DISABLE_CACHE"):
            self._folder = cache_directory()
        elif cache_dir is not None and cache_dir is not False:
            self._folder = Path(os.fspath(cache_dir))

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.image"

    def find(self, key: str) -> list[Variant] | None:
        """The variants that an earlier run measured, or None."""
        if self._folder is None:
            return None
        path = self._path(key)
        try:
            content = path.read_bytes()
            if not content.startswith(_FIRST_LINE):
                return None
            rows = json.loads(content[len(_FIRST_LINE) :])
            found = [
                Variant(Configuration(_with_tuples(row[0])), *row[1:]) for row in rows
            ]
        except (OSError, ValueError, TypeError, IndexError):
            return None
        try:
            if time.time() - path.stat().st_mtime > _HOUR:
                os.utime(path)  # the time of the last use decides what is removed
        except OSError:
            pass  # a cache that cannot be written is allowed
        return found

    def keep(self, key: str, variants: Sequence[Variant]) -> None:
        """Write an entry under another name, and rename it: readers see all of it or nothing."""
        if self._folder is None:
            return
        rows = [[dict(v.configuration), *v[1:]] for v in variants]
        path = self._path(key)
        try:
            content = _FIRST_LINE + json.dumps(rows).encode()
        except TypeError:
            return  # a value, such as an object with a special text, that JSON cannot give back
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(".tmp", dir=path.parent)
        except OSError:
            return
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            os.replace(temporary, path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)


def _with_tuples(values: dict) -> dict:
    return {n: tuple(v) if isinstance(v, list) else v for n, v in values.items()}
