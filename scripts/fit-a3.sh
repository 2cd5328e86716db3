#!/usr/bin/env bash
# Finds the movement and the world size whose average savings of A³ are nearest to the paper's.
#
# The misfit of a candidate is the root mean square of its differences from the four average savings of the paper's
# table III. It uses no tolerance.
#   First:  every candidate of the grid, 25 avatars, 100 runs, seed 101.
#   Second: the five best of those at the paper's eight sizes, 10 runs, seeds 102 to 104; the lowest mean
#           misfit is the fitted setting.
# Seeds 1 to 5 take no part: the claims are later checked with them.
#
# There are reasons to leave out one of the four, and they contradict each other: the paper does not print where the
# attenuated circle's attenuation starts (`printed` leaves it out), and it measured the circle on other walks (`walks`
# leaves it out, and the row of 175 avatars). The script also prints their choices, and the number of candidates that
# reproduce the paper's claims. docs/lab-a3.md discusses the results.
#
# Needs jq. Takes about an hour on two cores; continues after an interruption.
# Usage: scripts/fit-a3.sh [DIR] (default out/fit)
set -euo pipefail
cd "$(dirname "$0")/.."

readonly WORLDS=(260 270 280 290 300 310)
readonly SPEEDS=(0.5-1 1-2 2-4 3-6)
readonly PAUSES=(0 15 30 45 60 90 120)
readonly DIR=${1:-out/fit}

command -v jq > /dev/null || { echo "error: please install jq" >&2; exit 1; }
cargo build --release --quiet -p ecumene
mkdir -p "$DIR"
touch "$DIR/first.tsv" "$DIR/second.tsv"

# measure FILE SEED WORLD SPEED PAUSE MORE-OPTIONS… appends a line, unless it exists: world, speed, pause, seed, savings of
# A³ over none, circle, circle-attenuated and field-of-view, savings of the attenuated circle over the circle.
measure() {
  local file=$1 seed=$2 world=$3 speed=$4 pause=$5 key
  shift 5
  key=$(printf '%s\t%s\t%s\t%s' "$world" "$speed" "$pause" "$seed")
  if grep -q "^$key"$'\t' "$file"; then return; fi
  local options=(--world "$world" --speed "$speed" --pause "$pause" --seed "$seed")
  local saved
  saved=$(target/release/ecumene lab a3 "${options[@]}" --format json "$@" |
    jq -r '.savings.average as $of
           | [$of.none, $of.circle, $of["circle-attenuated"], $of["field-of-view"], .attenuation_saves.average]
           | map(. * 1000 | round / 1000) | @tsv')
  printf '%s\t%s\n' "$key" "$saved" | tee -a "$file"
}

# ranked RULE FILE prints the lines with their misfit in front, the best first.
ranked() {
  awk -F'\t' -v OFS='\t' -v rule="$1" '
    function square(x) { return x * x }
    rule == "all"     { sum = square($5 - 81.64) + square($6 - 63.51) + square($7 - 37.48) + square($8 - 33.58); terms = 4 }
    rule == "printed" { sum = square($5 - 81.64) + square($6 - 63.51) + square($8 - 33.58); terms = 3 }
    rule == "walks"   { sum = square($5 - 82.06) + square($7 - 38.91) + square($8 - 32.92); terms = 3 }
    { printf "%.3f\t%s\n", sqrt(sum / terms), $0 }' "$2" | sort -n
}

echo "# first: world, speed, pause, seed; saved of none, circle, circle-attenuated, field-of-view; attenuated of circle"
for world in "${WORLDS[@]}"; do
  for speed in "${SPEEDS[@]}"; do
    for pause in "${PAUSES[@]}"; do
      measure "$DIR/first.tsv" 101 "$world" "$speed" "$pause" --avatars 25 --runs 100
    done
  done
done

echo "# candidates that reproduce all claims about averages, and all candidates"
awk -F'\t' 'function apart(x, y) { return x < y ? y - x : x - y }
            apart($5, 81.64) <= 3 && apart($6, 63.51) <= 3 && apart($7, 37.48) <= 5 && apart($8, 33.58) <= 3 &&
            apart($9, 41.59) <= 5 { good++ }
            END { print good + 0, NR }' "$DIR/first.tsv"
for rule in printed walks all; do
  echo "# the best by the rule '$rule': misfit, then as above"
  ranked "$rule" "$DIR/first.tsv" | sed -n 1p
done

echo "# second: the five best at the paper's sizes"
ranked all "$DIR/first.tsv" | sed -n 1,5p | while IFS=$'\t' read -r _ world speed pause _; do
  for seed in 102 103 104; do
    measure "$DIR/second.tsv" "$seed" "$world" "$speed" "$pause" --runs 10
  done
done

echo "# mean misfit of the five best: world, speed, pause, misfit"
ranked all "$DIR/second.tsv" |
  awk -F'\t' '{ key = $2 "\t" $3 "\t" $4; sum[key] += $1; n[key]++ }
              END { for (k in sum) printf "%s\t%.3f\n", k, sum[k] / n[k] }' | sort -t $'\t' -k4,4n
