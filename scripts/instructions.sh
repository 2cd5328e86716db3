#!/usr/bin/env bash
# Counts instructions of the interest engine and fails if an observer costs more than 1.3 times as much in
# a crowd of 16,000 as in one of 1,000. Needs valgrind and gungraun-runner: `./test --full` installs them.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.tools/bin:$PATH"

output=$(cargo bench --locked --package ecumene-lab --bench interest)
echo "$output"
echo "$output" | awk '
  /avatars_1000:/  { crowd = 1000 }
  /avatars_16000:/ { crowd = 16000 }
  /Instructions:/  { split($2, number, "|"); per_observer[crowd] = number[1] / (4 * crowd) }
  END {
    if (!per_observer[1000] || !per_observer[16000]) { print "error: no counts found"; exit 1 }
    ratio = per_observer[16000] / per_observer[1000]
    printf "instructions per observer and tick: %.0f at 1,000 avatars, %.0f at 16,000: ratio %.3f (at most 1.3)\n",
      per_observer[1000], per_observer[16000], ratio
    exit ratio > 1.3
  }'
