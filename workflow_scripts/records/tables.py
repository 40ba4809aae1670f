"""Parquet tables with declared schemas: written whole, read only when their manifest agrees."""

import os
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from workflow_scripts.records import manifests
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.files import atomic_file
from workflow_scripts.records.manifests import WAY_OUT


def write_table(table: pa.Table | pd.DataFrame, path: str | os.PathLike, schema: pa.Schema) -> None:
    """Writes `table`, cast to `schema`, to a parquet file; extra columns are dropped, missing ones are an error."""
    if isinstance(table, pd.DataFrame):
        table = pa.Table.from_pandas(table[schema.names], schema=schema, preserve_index=False)
    table = table.select(schema.names).cast(schema).replace_schema_metadata(None)
    with atomic_file(path) as aside:
        pq.write_table(table, aside, compression="zstd", use_dictionary=True)


def read_table(path: str | os.PathLike, schema: pa.Schema, columns: list[str] | None = None) -> pd.DataFrame:
    """Reads a table made by this workflow.

    columns: those to read (default: all of `schema`). Raises UserError, naming the file, where it is missing, lacks a
    column, or disagrees with its manifest.
    """
    path = Path(path)
    manifests.check(path)
    wanted = columns or schema.names
    try:
        table = pq.read_table(path, columns=wanted)
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(
            f"{path} is not a readable parquet file ({error}); delete it and run snakemake again"
        ) from error
    missing = [name for name in wanted if name not in table.column_names]
    if missing:
        raise UserError(f"{path} lacks the column(s) {', '.join(missing)}; {WAY_OUT}")
    return table.select(wanted).to_pandas()


def read_csv(path: str | os.PathLike) -> pd.DataFrame:
    """Reads a csv made by this workflow. Raises UserError, naming the file, where it disagrees with its manifest."""
    manifests.check(path)
    return pd.read_csv(path)


def csv_text(frame: pd.DataFrame) -> str:
    """The frame as csv: ten significant digits, Unix line ends, empty where there is no number."""
    # Ten digits leave out the last bits, which a matrix product may round differently on another number of threads.
    return frame.to_csv(index=False, float_format="%.10g", lineterminator="\n")
