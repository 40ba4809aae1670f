"""Finished parts of a long job's table, kept beside its output, so that a killed job loses one part and not all.

A part is found again by what it was made from: where a setting, an input or the division into parts has changed, it
gets another name, and what is there is not used. Parts carry manifests like every output.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from typing import Any

import pyarrow as pa

from workflow_scripts.records import manifests
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.tables import read_table, write_table


def parts_folder(output: str | os.PathLike) -> Path:
    """Where the parts of an output lie until it is written: a hidden folder beside it."""
    output = Path(output)
    return output.with_name(f".{output.name}.parts")


def remove_parts(folder: str | os.PathLike) -> None:
    """Removes a folder of parts, once the output is written; nothing where there is none."""
    rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Parts:
    """The parts of one job.

    folder: where they lie. settings: all that changes what they hold, as plain values (JSON). schema: their columns.
    """

    folder: Path
    settings: Mapping[str, Any]
    schema: pa.Schema

    def _path(self, part: Any) -> Path:
        text = json.dumps([self.settings, part], sort_keys=True)
        return self.folder / f"{blake2b(text.encode(), digest_size=16).hexdigest()}.parquet"

    def load(self, part: Any) -> pa.Table | None:
        """The finished part that is described by `part` (plain values), or None: absent, other settings, damaged."""
        path = self._path(part)
        with suppress(UserError):
            frame = read_table(path, self.schema) if path.exists() else None
            if frame is not None:
                return pa.Table.from_pandas(frame, self.schema, preserve_index=False).replace_schema_metadata(None)
        return None

    def save(self, part: Any, table: pa.Table) -> None:
        """Keeps a finished part; UserError where the disk is full or the folder cannot be written."""
        path = self._path(part)
        write_table(table, path, self.schema)
        manifests.write([path], [], dict(self.settings))
