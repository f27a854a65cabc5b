#!/usr/bin/env bash
# setup.sh [test] [bench]: installs what building (and testing, measuring) needs and is missing:
# Debian packages by apt, Python packages into .venv. Does nothing, within a second, when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# run LOG COMMAND...: runs it quietly; on failure shows the end of what it printed.
run() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 30 "$log" >&2
    die "failed: $* (whole output: $log)"
  fi
}

# The packages named in tools/apt-NAME.txt that dpkg does not have, one a line.
missing_packages() {
  local wanted have
  wanted=$(for name in "$@"; do sed 's/#.*//' "tools/apt-$name.txt"; done | xargs -n1 | sort -u)
  # shellcheck disable=SC2086 # one word a package
  have=$(dpkg-query -W -f='${Package} ${Status}\n' $wanted 2>/dev/null |
    sed -n 's/ install ok installed$//p' | sort -u || true)
  comm -23 <(printf '%s\n' "$wanted") <(printf '%s\n' "$have")
}

install_packages() {
  local missing as_root=()
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  missing=$(xargs <<<"$missing")
  command -v apt-get >/dev/null ||
    die "needs apt-get (Debian 12). Install by hand what these Debian packages hold: $missing"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      die "needs root for: apt-get install $missing (neither root nor sudo here)"
    as_root=(sudo)
  fi
  say "installing $(wc -w <<<"$missing") Debian packages: $missing"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3)
  run build/setup/apt-update.log "${apt[@]}" update
  # shellcheck disable=SC2086 # one word a package
  run build/setup/apt-install.log "${apt[@]}" install -y --no-install-recommends $missing
}

# Python packages into .venv; its stamp is the requirements it was filled from.
install_python() {
  local python=${PROA_PYTHON:-/usr/bin/python3} stamp=.venv/requirements.stamp
  if [ -x .venv/bin/python ] && cmp -s tools/requirements.txt "$stamp"; then
    return 0
  fi
  if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
      die "needs Python 3.11 or newer at $python (or PROA_PYTHON=...)"
    say "making the virtual environment .venv"
    run build/setup/venv.log "$python" -m venv .venv
  fi
  say "installing Python packages into .venv"
  run build/setup/pip.log .venv/bin/python -m pip install --disable-pip-version-check \
    --no-deps -r tools/requirements.txt
  cp tools/requirements.txt "$stamp"
}

for name in "$@"; do
  [ -f "tools/apt-$name.txt" ] || die "unknown part '$name': wanted test or bench"
done
install_packages build "$@"
install_python
