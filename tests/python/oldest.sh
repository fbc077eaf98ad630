#!/usr/bin/env bash
# Runs the package's own tests in the oldest Python that its wheel claims to serve, in the environment $2, with the wheel $1; says so where
# that Python cannot be had.
set -euo pipefail
wheel=$1 folder=$2 oldest=3.10
cd "$(dirname "$0")"

python=""
for candidate in "python$oldest" "$HOME/.pyenv/versions/$oldest".*/bin/"python$oldest"; do
  if "$candidate" --version >/dev/null 2>&1; then python=$candidate; fi
done
if [ -z "$python" ]; then
  echo "not run: there is no python$oldest on this machine"
  exit 0
fi
"$folder/bin/python" -m pip --version >/dev/null 2>&1 || { rm -rf "$folder" && "$python" -m venv "$folder"; }
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check numpy pytest
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"
"$folder/bin/python" -m pytest -q test_package.py test_bad_calls.py
