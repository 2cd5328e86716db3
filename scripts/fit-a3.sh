#!/usr/bin/env bash
# Which walk and which square bring A³'s average savings nearest to the paper's.
#
# The rule was written down before it was run, and looks at no tolerance. It compares only what the paper measured
# on the same walks. `lab a3` shows which columns go together (docs/lab-a3.md): those of the attenuated circle, the
# field of view and A³ do, except in the row of 175 avatars; that of the circle goes with none of them, so it was
# measured on other walks. The misfit of a candidate is the root mean square of three differences: what A³ saves of
# none, the attenuated circle and the field of view, against the mean of the paper's seven other rows. The circle and
# all maxima are left as predictions. (This is the third rule; docs/lab-a3.md says what came of the other two.)
#   First:  every candidate of the grid, 25 avatars, 100 runs, seed 101.
#   Second: the five best of those at the paper's eight sizes, 10 runs, seeds 102 to 104; the lowest mean
#           misfit is the fitted setting.
# Seeds 1 to 5 take no part: they are the ones the setting is then judged by.
#
# About an hour on two cores. Usage: scripts/fit-a3.sh [DIR]   (default out/fit)
set -euo pipefail
cd "$(dirname "$0")/.."

readonly WORLDS=(260 270 280 290 300 310)
readonly SPEEDS=(0.5-1 1-2 2-4 3-6)
readonly PAUSES=(0 15 30 45 60 90 120)
readonly DIR=${1:-out/fit}

cargo build --release --quiet -p ecumene
mkdir -p "$DIR"

# misfit WORLD SPEED PAUSE MORE-OPTIONS… prints the misfit, A³'s four savings, and what the attenuated circle
# saves of the circle.
misfit() {
  local world=$1 speed=$2 pause=$3
  shift 3
  target/release/ecumene lab a3 --world "$world" --speed "$speed" --pause "$pause" --format json "$@" |
    jq -r '.savings.average as $ours
           | [$ours.none - 82.06, $ours["circle-attenuated"] - 38.91, $ours["field-of-view"] - 32.92] as $apart
           | ($apart | map(. * .) | add / 3 | sqrt) as $misfit
           | [$misfit, $ours.none, $ours.circle, $ours["field-of-view"], $ours["circle-attenuated"],
              .attenuation_saves.average]
           | map(. * 1000 | round / 1000) | @tsv'
}

echo "# first: world, speed, pause, misfit, saved of none, circle, field-of-view, circle-attenuated; attenuated of circle" >&2
for world in "${WORLDS[@]}"; do
  for speed in "${SPEEDS[@]}"; do
    for pause in "${PAUSES[@]}"; do
      printf '%s\t%s\t%s\t%s\n' "$world" "$speed" "$pause" \
        "$(misfit "$world" "$speed" "$pause" --avatars 25 --runs 100 --seed 101)"
    done
  done
done | tee "$DIR/first.tsv"

echo "# second: the five best, the paper's sizes" >&2
sort -t $'\t' -k4,4n "$DIR/first.tsv" | head -5 | while IFS=$'\t' read -r world speed pause _; do
  for seed in 102 103 104; do
    printf '%s\t%s\t%s\t%s\t%s\n' "$world" "$speed" "$pause" "$seed" \
      "$(misfit "$world" "$speed" "$pause" --runs 10 --seed "$seed")"
  done
done | tee "$DIR/second.tsv"

echo "# mean misfit of the five best" >&2
awk -F'\t' '{ key = $1 "\t" $2 "\t" $3; sum[key] += $5; n[key]++ }
            END { for (k in sum) printf "%s\t%.3f\n", k, sum[k] / n[k] }' "$DIR/second.tsv" | sort -t $'\t' -k4,4n
