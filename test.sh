#!/usr/bin/env bash
# Sets up what the tests need and passes them. Needs the Rust toolchain and python3, nothing else.
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s\n' "$*"; "$@"; }

step cargo fmt --all --check
step cargo clippy --workspace --all-targets -- -D warnings
step cargo test --workspace
RUSTDOCFLAGS="-D warnings" step cargo doc --workspace --no-deps
step cargo build --release

# The peers' checks: other people's code judges our frames, in an environment of its own.
if [ ! -x .venv/bin/python ]; then
  step python3 -m venv .venv
fi
step .venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/python/requirements.txt
step .venv/bin/python -m pytest -q tests/python
