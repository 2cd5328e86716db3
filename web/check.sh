#!/usr/bin/env bash
# Installs the locked packages, then checks, tests and builds the browser side. The generated module must equal the
# present output of `ecumene schema --ts`. usage: check.sh <ecumene>
set -euo pipefail
ecumene="$(realpath "${1:?usage: check.sh <ecumene>}")"
cd "$(dirname "$0")"
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
