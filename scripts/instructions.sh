#!/usr/bin/env bash
# Counts instructions. Fails if the interest engine needs more than 1.3 times as many per observer among 16,000 avatars
# as among 1,000, or if a zone needs more than 1.1 times as many for a local event as before events across zones existed
# (benches/zone.baseline). Needs valgrind and gungraun-runner: `./test --full` installs them.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.tools/bin:$PATH"

output=$(cargo bench --locked --package ecumene-benchmarks --bench interest)
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

output=$(cargo bench --locked --package ecumene-benchmarks --bench zone)
echo "$output"
echo "$output" | awk '
  NR == FNR       { if (!/^#/) before[$1] = $2; next }
  /local_events/  { split($2, name, ":"); game = name[1] }
  /Instructions:/ {
    split($2, number, "|")
    if (!before[game]) { print "error: zone.baseline does not know " game; failed = 1; next }
    per_event = number[1] / 8200
    ratio = per_event / before[game]
    printf "instructions per local event, %s: %.0f, before borders %d: ratio %.3f (at most 1.1)\n",
      game, per_event, before[game], ratio
    if (ratio > 1.1) failed = 1
    delete before[game]
    compared += 1
  }
  END {
    for (game in before) { print "error: no count found for " game; failed = 1 }
    exit failed || !compared
  }' programs/benchmarks/benches/zone.baseline -
