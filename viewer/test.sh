#!/usr/bin/env bash
# Checks the viewer's types, that the committed bundle is what its sources make, and drives the page in Chromium.
# Needs node and npm, and Chromium: CHROMIUM names it, and as root it is installed by apt-get where it is missing.
set -euo pipefail
cd "$(dirname "$0")"

if ! node --version >/dev/null 2>&1 || ! npm --version >/dev/null 2>&1; then
  echo "error: the viewer's tests need node (20 or later) and npm: install Node.js" >&2
  exit 2
fi
CHROMIUM="${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}"
if [ -z "$CHROMIUM" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
  CHROMIUM="$(command -v chromium || true)"
fi
if [ -z "$CHROMIUM" ]; then
  echo "error: the viewer's tests need Chromium: install the package chromium, or name a browser with CHROMIUM=/path/to/chromium" >&2
  exit 2
fi
export CHROMIUM
npm ci --silent --no-audit --no-fund
npm run --silent check
npm run --silent verify
node test/drive.mjs "${1:-../target/release/percale}"
