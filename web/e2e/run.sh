#!/usr/bin/env bash
# Plays in real browsers against a real world, over WebTransport and again over WebSocket. Screenshots stay in the work
# folder. usage: run.sh <ecumene> <work folder>
set -euo pipefail
ecumene="$(realpath "${1:?usage: run.sh <ecumene> <work folder>}")"
mkdir -p "${2:?usage: run.sh <ecumene> <work folder>}"
work="$(realpath "$2")"
cd "$(dirname "$0")"

rm -rf "$work/world"
"$ecumene" demo --data "$work/world" --port 0 --bots 5 --behaviour wander > "$work/demo.log" 2>&1 &
demo=$!
trap 'kill -INT $demo 2> /dev/null || true; wait $demo || true' EXIT
for _ in $(seq 600); do
  url="$(sed -n 's/.*\(http:[^ ]*\).*/\1/p' "$work/demo.log" | head -n 1)"
  if [ -n "$url" ]; then break; fi
  kill -0 $demo 2> /dev/null || { cat "$work/demo.log" >&2; exit 1; }
  sleep 0.1
done
[ -n "$url" ] || { echo "the demo did not start: see $work/demo.log" >&2; exit 1; }

for transport in webtransport websocket; do
  node play.mjs --url "$url" --transport "$transport" --shots "$work/$transport"
done
