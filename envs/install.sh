#!/usr/bin/env bash
# Makes .venv from the pinned files beside this script. Argument: the Python to use (3.11 or newer).
# torch: a CPU wheel found in a folder of UV_FIND_LINKS or PIP_FIND_LINKS, else uv's own CPU backend.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${1:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
  || { echo "Python 3.11 or newer is needed; $python is $("$python" -V 2>&1). Try: make env PYTHON=python3.12" >&2; exit 1; }
[ -x .venv/bin/python ] || "$python" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check uv==0.13.9

export UV_FIND_LINKS="${UV_FIND_LINKS:-${PIP_FIND_LINKS:-}}"
[ -n "$UV_FIND_LINKS" ] || unset UV_FIND_LINKS
torch=$(sed -n 's/^torch==//p' envs/laptop.txt)
backend=(--torch-backend cpu)
for folder in ${UV_FIND_LINKS:-}; do
  if compgen -G "${folder#file://}/torch-$torch+cpu-*.whl" >/dev/null; then backend=(); fi
done
uv() { .venv/bin/python -m uv --quiet "$@"; }
uv pip install --python .venv/bin/python --compile-bytecode "${backend[@]}" \
  --constraints envs/laptop-constraints.txt --requirements envs/laptop.txt
uv pip install --python .venv/bin/python --no-build-isolation --no-deps --editable .
touch .venv/.complete
