#!/usr/bin/env bash
# Installs what the lock file says, then checks, tests and builds the browser side. The generated module must be what
# `ecumene schema --ts` writes today: give the program as ECUMENE, or build it first (cargo build --release).
set -euo pipefail
cd "$(dirname "$0")"
ecumene="${ECUMENE:-../target/release/ecumene}"
made="$(mktemp -d)"
trap 'rm -rf "$made"' EXIT

npm ci --ignore-scripts --no-audit --no-fund --silent
"$ecumene" schema --ts --out "$made" > /dev/null
for file in kosmos.ts kosmos.vectors.json; do
  cmp "$made/$file" "kosmos/src/generated/$file" || {
    echo "web: the generated types are old. Run: $ecumene schema --ts --out web/kosmos/src/generated" >&2
    exit 1
  }
done
npm run --silent check
npm run --silent test
npm run --silent build
