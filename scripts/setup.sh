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

need_node() {
  { command -v node && command -v npm; } > /dev/null || install_packages nodejs npm
}

need_valgrind() {
  command -v valgrind > /dev/null || install_packages valgrind libc6-dbg
}

# need_tool NAME VERSION: a cargo tool of exactly this version, built once into .tools.
need_tool() {
  local have
  have=$("$tools/bin/$1" --version 2> /dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1 || true)
  if [ "$have" = "$2" ]; then return; fi
  echo "building $1 $2 into .tools (once, some minutes)"
  cargo install --quiet --locked --root "$tools" "$1@$2"
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
