#!/usr/bin/env bash
# Makes an environment from the pinned files beside this script: `.venv` (laptop) or `.venv-engines` (verl and vLLM on
# CPU). Arguments: the Python to use (3.11 or newer), and laptop or engines.
# torch: a CPU wheel found in a folder of UV_FIND_LINKS or PIP_FIND_LINKS, else uv's own CPU backend.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${1:-python3} name=${2:-laptop}
case $name in
  laptop) folder=.venv ;;
  engines) folder=.venv-engines ;;
  *) echo "there is no environment $name to make; choose laptop or engines" >&2; exit 1 ;;
esac
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
  || { echo "Python 3.11 or newer is needed; $python is $("$python" -V 2>&1). Try: make env PYTHON=python3.12" >&2; exit 1; }
[ -x $folder/bin/python ] || "$python" -m venv $folder
$folder/bin/python -m pip install --quiet --disable-pip-version-check uv==0.13.9

export UV_FIND_LINKS="${UV_FIND_LINKS:-${PIP_FIND_LINKS:-}}"
[ -n "$UV_FIND_LINKS" ] || unset UV_FIND_LINKS
torch=$(sed -n 's/^torch==//p' envs/$name.txt)
backend=(--torch-backend cpu)
for place in ${UV_FIND_LINKS:-}; do
  if compgen -G "${place#file://}/torch-$torch+cpu-*.whl" >/dev/null; then backend=(); fi
done
overrides=()
[ ! -f envs/$name-overrides.txt ] || overrides=(--override envs/$name-overrides.txt)
uv() { $folder/bin/python -m uv --quiet "$@"; }
uv pip install --python $folder/bin/python --compile-bytecode "${backend[@]}" "${overrides[@]}" \
  --constraints envs/$name-constraints.txt --requirements envs/$name.txt
uv pip install --python $folder/bin/python --no-build-isolation --no-deps --editable .
touch $folder/.complete
