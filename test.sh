#!/usr/bin/env bash
# Sets up what the tests need and passes them. Needs the Rust toolchain with rustfmt and clippy, python3 with venv, and the network
# for crates and Python packages the first time.
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s\n' "$*"; "$@"; }

need() { # command, what to do
  if ! $1 >/dev/null 2>&1; then
    echo "error: '$1' does not work, and the tests need it: $2" >&2
    exit 2
  fi
}
need "cargo --version" "install Rust from https://rustup.rs"
need "cargo fmt --version" "rustup component add rustfmt"
need "cargo clippy --version" "rustup component add clippy"
need "python3 --version" "install Python 3.10 or later"
need "cc --version" "install a C compiler (Debian, Ubuntu: apt install build-essential)"

step cargo fmt --all --check
step cargo clippy --workspace --all-targets -- -D warnings
step cargo test --workspace
RUSTDOCFLAGS="-D warnings" step cargo doc --workspace --no-deps
step cargo build --release
step viewer/test.sh

# The peers' checks: other people's code judges our frames, in an environment of its own.
step tests/python/venv.sh .venv
step .venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/python/requirements.txt
rm -rf target/wheels
step .venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps -w target/wheels ./python
step .venv/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps target/wheels/*.whl
step .venv/bin/python -m pytest -q tests/python
step .venv/bin/python -m pytest -q --doctest-modules --pyargs percale
step .venv/bin/python -m mypy --strict -p percale
step tests/python/oldest.sh "$(echo "$PWD"/target/wheels/*.whl)" "$PWD/.venv-oldest"
