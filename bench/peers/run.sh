#!/usr/bin/env bash
# Builds everything, then measures all systems and prints the table. Options go to the runner; `./run.sh --help` lists them.
# ECUMENE=PROGRAM measures that program instead of building Ecumene.
set -euo pipefail
if [ -n "${ECUMENE:-}" ]; then ECUMENE="$(realpath "$ECUMENE")"; fi
cd "$(dirname "$0")"

if [ -z "${ECUMENE:-}" ]; then
  cargo build --release --locked --package ecumene --manifest-path ../../Cargo.toml >&2
  ECUMENE="${CARGO_TARGET_DIR:-../../target}/release/ecumene"
fi
cargo build --release --locked >&2
(cd node && npm ci --loglevel=error >&2)
exec "${CARGO_TARGET_DIR:-target}/release/peers-runner" --ecumene "$ECUMENE" --node node "$@"
