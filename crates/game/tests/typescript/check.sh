#!/usr/bin/env bash
# Compiles and runs the TypeScript in testdata/typescript. It installs packages only into the given work folder.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
work="${1:?usage: check.sh <work folder>}"
mkdir -p "$work"
cp "$here/package.json" "$here/package-lock.json" "$work/"
npm ci --prefix "$work" --ignore-scripts --no-audit --no-fund --silent
cd "$work"
node "$here/check.mjs" "$here/../../testdata/typescript"
