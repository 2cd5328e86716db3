#!/usr/bin/env bash
# Records the moving picture of the README: a player walks in the demo world, and the host that decides about her avatar is
# killed (kill -9). Every caption is what the page measured. usage: scripts/picture.sh [ecumene] [docs/failover.webp]
set -euo pipefail
cd "$(dirname "$0")/.."
source ./scripts/setup.sh
need_node
need_chromium
command -v img2webp > /dev/null || install_packages webp
ecumene="$(realpath "${1:-target/release/ecumene}")"
picture="$(realpath -m "${2:-docs/failover.webp}")"
work="$PWD/out/picture"
rm -rf "$work"
mkdir -p "$work/frames"

"$ecumene" demo --fresh --data "$work/world" --port 0 --bots 40 --behaviour wander > "$work/demo.log" 2>&1 &
demo=$!
trap 'kill -INT $demo 2> /dev/null || true; wait $demo || true' EXIT
for _ in $(seq 600); do
  url="$(sed -n 's/.*\(http:[^ ]*\).*/\1/p' "$work/demo.log" | head -n 1)"
  if [ -n "$url" ]; then break; fi
  kill -0 $demo 2> /dev/null || { cat "$work/demo.log" >&2; exit 1; }
  sleep 0.1
done

(cd web/e2e && node picture.mjs --url "$url" --demo "$demo" --frames "$work/frames")
# Good enough for a game, and small enough for a front page. The list holds a time and a file per frame.
xargs img2webp -loop 0 -lossy -q 55 -m 4 -o "$picture" < "$work/frames/list.txt"
ls -l "$picture"
