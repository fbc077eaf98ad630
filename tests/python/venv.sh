#!/usr/bin/env bash
# Makes the Python environment of the tests in the folder $1, or makes it anew if it is there but does not work: a setup that was
# interrupted leaves a python without pip, and a python that was upgraded or removed leaves links to nothing.
set -euo pipefail
folder=$1

works() { "$folder/bin/python" -m pip --version >/dev/null 2>&1; }

if works; then exit 0; fi
if [ -e "$folder" ] || [ -L "$folder" ]; then
  echo "$folder does not work; it is made anew" >&2
  rm -rf "$folder"
fi
if ! python3 -m venv "$folder"; then
  echo "error: python3 cannot make an environment in $folder; install its venv module (Debian, Ubuntu: apt install python3-venv)" >&2
  exit 1
fi
