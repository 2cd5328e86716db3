#!/usr/bin/env bash
# How long actions take where packets are lost: one in a hundred UDP packets each way, on the loopback device of a network
# namespace of its own. Every program plays in turn, as often as asked, natively and in Chromium; one JSON line per run.
# Needs root, for the namespace, and nftables; Chromium needs the node modules of web/e2e (`./test` installs them).
# usage: scripts/loss.sh ROUNDS PROGRAM...
set -euo pipefail
if [ "${IN_NAMESPACE:-}" != yes ]; then
  rounds="${1:?usage: scripts/loss.sh ROUNDS PROGRAM...}"
  shift
  programs=()
  for program in "$@"; do programs+=("$(realpath "$program")"); done
  cd "$(dirname "$0")/.."
  IN_NAMESPACE=yes exec unshare --net "$BASH" scripts/loss.sh "$rounds" "${programs[@]}"
fi
rounds="$1"
shift
work="$(mktemp -d)"
demo=
finish() {
  if [ -n "$demo" ]; then kill -INT "$demo" 2> /dev/null || true; wait "$demo" || true; fi
  rm -rf "$work"
}
trap finish EXIT

ip link set lo up
# At the input: a packet dropped at the output would be an error at its sender.
nft add table inet loss
nft 'add chain inet loss input { type filter hook input priority 0; }'
nft add rule inet loss input meta l4proto udp numgen random mod 100 '<' 1 counter drop

field() { sed -n "s/.*\"$1\": *\([0-9.]*\).*/\1/p"; }

native() {
  "$1" demo --data "$work/native" --fresh --port 0 --bots 40 --seconds 30 --format json > "$work/native.json"
  printf '{"round": %s, "client": "native", "program": "%s", "p50_ms": %s, "p99_ms": %s, "errors": %s}\n' "$round" "$1" \
    "$(field action_latency_p50_ms < "$work/native.json")" "$(field action_latency_p99_ms < "$work/native.json")" \
    "$(field errors < "$work/native.json")"
}

browser() {
  "$1" demo --data "$work/browser" --fresh --port 0 --bots 5 > "$work/demo.log" 2>&1 &
  demo=$!
  local url=
  for _ in $(seq 600); do
    url="$(sed -n 's/.*\(http:[^ ]*\).*/\1/p' "$work/demo.log" | head -n 1)"
    if [ -n "$url" ]; then break; fi
    sleep 0.1
  done
  node web/e2e/latency.mjs --url "$url" --actions 600 > "$work/browser.json"
  kill -INT "$demo"
  wait "$demo" || true
  demo=
  printf '{"round": %s, "client": "chromium", "program": "%s", "p50_ms": %s, "p99_ms": %s, "errors": %s}\n' "$round" "$1" \
    "$(field p50_ms < "$work/browser.json")" "$(field p99_ms < "$work/browser.json")" "$(field errors < "$work/browser.json")"
}

for round in $(seq "$rounds"); do
  for program in "$@"; do native "$program"; done
  for program in "$@"; do browser "$program"; done
done
