#!/usr/bin/env bash
# Runs every fuzz target under libFuzzer, guided by coverage. Usage: scripts/fuzz.sh [SECONDS PER TARGET] (default 30)
# Needs cargo-bolero and a C++ compiler: `./test --full` installs them.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.tools/bin:$PATH"

log=$(mktemp)
for target in wire:pose_bytes wire:datagram_bytes wire:damaged_datagrams \
  store:any_files store:any_records store:damaged_files lobby:token_bytes lobby:damaged_tokens \
  overlay:peer_bytes overlay:damaged_peer_messages; do
  package=ecumene-${target%%:*}
  target=${target#*:}
  if ! cargo bolero test --package "$package" --engine libfuzzer --sanitizer NONE \
    -T "${1:-30}s" "fuzz::$target" > "$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "error: the fuzz target $target failed" >&2
    exit 1
  fi
  echo "$target: $(grep '^Done' "$log")"
done
rm -f "$log"
