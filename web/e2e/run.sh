#!/usr/bin/env bash
# Plays in real browsers against a real world, over WebTransport and again over WebSocket; then waits in the queue of a world that
# takes one player. Screenshots stay in the work folder. usage: run.sh <ecumene> <work folder>
set -euo pipefail
ecumene="$(realpath "${1:?usage: run.sh <ecumene> <work folder>}")"
mkdir -p "${2:?usage: run.sh <ecumene> <work folder>}"
work="$(realpath "$2")"
cd "$(dirname "$0")"
demo=""
trap 'end' EXIT

end() {
  if [ -n "$demo" ]; then
    kill -INT "$demo" 2> /dev/null || true
    wait "$demo" || true
  fi
  demo=""
}

# Starts a demo with these arguments; `url` is the address of its page.
begin() {
  rm -rf "$work/world"
  "$ecumene" demo --data "$work/world" --port 0 "$@" > "$work/demo.log" 2>&1 &
  demo=$!
  for _ in $(seq 600); do
    url="$(sed -n 's/.*\(http:[^ ]*\).*/\1/p' "$work/demo.log" | head -n 1)"
    if [ -n "$url" ]; then break; fi
    kill -0 "$demo" 2> /dev/null || { cat "$work/demo.log" >&2; exit 1; }
    sleep 0.1
  done
  [ -n "$url" ] || { echo "the demo did not start: see $work/demo.log" >&2; exit 1; }
}

begin --bots 5 --behaviour wander
for transport in webtransport websocket; do
  node play.mjs --url "$url" --transport "$transport" --shots "$work/$transport"
done
end

printf '[lobby]\nplayers_max = 1\n[timing]\nleave = 2000\n' > "$work/queue.toml"
begin --config "$work/queue.toml" --bots 0 --hosts 1 --zones 1
node queue.mjs --url "$url" --shots "$work/queue"
end
