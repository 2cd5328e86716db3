#!/usr/bin/env bash
# Both disks of a world stand still for 30 seconds while players act: the file system under it is frozen. Prints what
# `ecumene bench disk` measures; exit code 1 if a replica failed. Needs root, for a file system of its own.
# usage: scripts/disk-stall.sh [program]
set -euo pipefail
program="$(realpath "${1:-target/release/ecumene}")"
work="$(mktemp -d)"
mount="$work/disk"
finish() {
  fsfreeze --unfreeze "$mount" 2> /dev/null || true
  umount "$mount" 2> /dev/null || true
  rm -rf "$work"
}
trap finish EXIT

truncate --size 8G "$work/image"
mkfs.ext4 -q "$work/image"
mkdir "$mount"
mount -o loop "$work/image" "$mount"

"$program" bench disk --players 20 --seconds 75 --every 5 --data "$mount/world" > "$work/report" 2> "$work/log" &
bench=$!
sleep 20
fsfreeze --freeze "$mount"
sleep 30
fsfreeze --unfreeze "$mount"
wait "$bench" || { cat "$work/log" >&2; exit 1; }
cat "$work/report"
if grep --ignore-case "replica ended\|panicked\|the disk failed" "$work/log"; then
  echo "a replica failed" >&2
  exit 1
fi
