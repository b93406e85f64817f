# SPDX-License-Identifier: MIT
# command_fixture.sh - what the checks of the `mote` command share; to be sourced with SOURCE_DIR BINARY_DIR. Each runs
# in a folder of its own, $work.
source_folder=$(cd "$1" && pwd)
mote=$(cd "$2" && pwd)/bin/mote
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
checks=0
export PYTHONPATH=$source_folder/tests PYTHONDONTWRITEBYTECODE=1 # timed_end.py

fail() {
    echo "$(basename "$0"): $*" >&2
    echo "--- stdout" >&2
    cat "$work/stdout" >&2
    echo "--- stderr" >&2
    cat "$work/stderr" >&2
    exit 1
}

# expect STATUS COMMAND...: runs mote, keeping what it prints.
expect() {
    local wanted=$1 status=0
    shift
    checks=$((checks + 1))
    "$mote" "$@" >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
    ((status == wanted)) || fail "mote $*: exit status $status, expected $wanted"
}
says() {
    grep -qF -- "$1" "$work/stdout" || fail "expected on stdout: $1"
}
warns() {
    grep -qF -- "$1" "$work/stderr" || fail "expected on stderr: $1"
}
silent() {
    [[ ! -s $work/stdout && ! -s $work/stderr ]] || fail "expected no output"
}
# has FILE EXPRESSION: a Python expression about the JSON object `s` in the file.
has() {
    python3 -c '
import json, sys
s = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2]) else "not so: %s in %s" % (sys.argv[2], s))' "$1" "$2" || fail "JSON of $1"
}
