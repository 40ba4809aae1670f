"""Matrix products whose rows come out the same in any company: one thread, blocks of a fixed number of rows.

BLAS picks its kernel, and with it the order of additions, by the number of rows: with OpenBLAS a row alone differs in
its last bits from the same row among others, with MKL up to three rows do. In blocks of BLOCK rows the kernel is always
the same. Blocks this small also stay in the first-level cache, which makes them no slower than one large product (110
GFLOP/s against 95 on one core, hidden size 64).
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

BLOCK = 16


def whole_blocks(rows: int) -> int:
    """`rows` rounded up to a multiple of BLOCK."""
    return -(-rows // BLOCK) * BLOCK


def product(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """rows @ matrix, float32. rows: (whole blocks, inner). matrix: (inner, outer)."""
    blocks = rows.reshape(-1, BLOCK, rows.shape[1])
    return np.matmul(blocks, matrix).reshape(len(rows), matrix.shape[1])


@cache
def _openblas() -> ctypes.CDLL | None:
    """The OpenBLAS that numpy's wheels bring along; None where numpy uses another library."""
    for file in (Path(np.__file__).parent.parent / "numpy.libs").glob("libscipy_openblas*"):
        library = ctypes.CDLL(str(file))
        if hasattr(library, "scipy_openblas_set_num_threads64_"):
            return library
    return None


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside the block numpy's products run on one thread, however many the process has: small ones lose by sharing."""
    library = _openblas()
    if library is None:
        yield
        return
    before = library.scipy_openblas_get_num_threads64_()
    library.scipy_openblas_set_num_threads64_(1)
    try:
        yield
    finally:
        library.scipy_openblas_set_num_threads64_(before)
