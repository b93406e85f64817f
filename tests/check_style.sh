#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Files stay short, C files are laid out as .clang-format says (where its version 14 is installed: other versions
# disagree about details), all name the licence, none uses a retired word, and the README shows the example as it is.
# check_style.sh SOURCE_DIR [BINARY_DIR]
# check_style.sh --licensed SOURCE_DIR prints the files that must name the licence.
set -euo pipefail

# Tracked sources, headers, tables, shaders, CMake files and scripts: all that can carry a comment. Scripts without a suffix
# are those that begin with #!. Nothing where this is no checkout, or git is not there.
licensed_files() {
    local tracked file
    tracked=$(git ls-files 2>/dev/null) || return 0
    grep -E '(\.(c|h|cpp|cu|cuh|def|comp|vert|frag|glsl|py|sh|cmake)|(^|/)CMakeLists\.txt|\.(c|cmake|pc)\.in)$' <<<"$tracked"
    while read -r file; do
        if [[ -f $file && $(head -c 2 "$file") == '#!' ]]; then
            echo "$file"
        fi
    done < <(grep -E '(^|/)[^./]+$' <<<"$tracked")
}

# Whether none of the files on standard input uses a word of tests/retired_words.txt; each use is a line. What speaks of
# former names on purpose says so in its line (FORMER_KEY, .former).
uses_no_retired_words() {
    local words where instead uses paths status=0
    paths=$(cat)
    while IFS=$'\t' read -r words where instead; do
        if [[ $words == '' || $words == '#'* ]]; then
            continue
        fi
        uses=$(grep -E -- "$where" <<<"$paths" | tr '\n' '\0' |
            xargs -0 -r grep -nIwE -- "$words" /dev/null | grep -vE 'FORMER_|\.former = ') || continue
        printf 'check_style: a retired word, say %s:\n%s\n' "$instead" "$uses" >&2
        status=1
    done <tests/retired_words.txt
    return "$status"
}

if [[ $1 == --licensed ]]; then
    cd "$2"
    licensed_files
    exit
fi
cd "$1"

line_limit=800
wrong=0
mapfile -t files < <(find src cuda shaders tests tools docs/examples -type f \
    \( -name '*.[ch]' -o -name '*.def' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' -o -name '*.comp' \
    -o -name '*.py' -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt \) | sort)
for file in "${files[@]}"; do
    lines=$(wc -l <"$file")
    if ((lines > line_limit)); then
        echo "check_style: $file has $lines lines, more than $line_limit" >&2
        wrong=1
    fi
    if grep -nE '[[:space:]]+$' "$file" /dev/null; then
        echo "check_style: the lines above end in blanks" >&2
        wrong=1
    fi
done

licensed=0
while read -r file; do
    licensed=$((licensed + 1))
    if [[ -f $file ]] && ! head -n 2 "$file" | grep -qE '^(//|#) SPDX-License-Identifier: MIT$'; then
        echo "check_style: $file does not say SPDX-License-Identifier: MIT in its first line, or the one after #!" >&2
        wrong=1
    fi
done < <(licensed_files)
echo "$licensed tracked files are asked for their licence"

# Retired words. The search is tried first on a file that has one of each kind: an identifier, a phrase, one of a folder.
spoken=$(git ls-files 2>/dev/null | grep -E '\.(c|h|cpp|cu|cuh|def|comp|vert|frag|glsl|in|py|sh|cmake|txt|md|json)$|^tools/' |
    grep -vE '^(tests/(retired_words\.txt|former_|states/|fuzz/|golden/)|docs/notes/|CHANGELOG\.md|scenes/schema\.json)') || spoken=
if [[ -n $spoken ]]; then
    trial=$(mktemp -d)
    trap 'rm -rf "$trial"' EXIT
    printf 'Mote%s view;\n' View >"$trial/identifier.c"
    printf '// What a shape with %s does.\n' 'a mass' >"$trial/phrase.c"
    printf '%s\n' 'const float good = smoothing_radius;' >"$trial/good.c"
    for retired in identifier phrase; do
        if uses_no_retired_words <<<"$trial/$retired.c" 2>/dev/null; then
            echo "check_style: the retired word of $retired.c was not found: the search is broken" >&2
            wrong=1
        fi
    done
    if ! uses_no_retired_words <<<"$trial/good.c"; then
        wrong=1
    fi
    if uses_no_retired_words <<<"$spoken"; then
        echo "$(wc -l <<<"$spoken") files use no word of tests/retired_words.txt"
    else
        wrong=1
    fi
fi

# What the README shows of C is the example that tests/check_install.sh compiles and runs, but for the licence line.
shown=$(sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d')
if [[ $shown != "$(grep -v '^// SPDX-License-Identifier: ' docs/examples/hello_dam.c)" ]]; then
    echo "check_style: the C program in README.md is not docs/examples/hello_dam.c" >&2
    wrong=1
fi

formatter=
for candidate in clang-format-14 clang-format; do
    if command -v "$candidate" >/dev/null && "$candidate" --version | grep -q 'version 14\.'; then
        formatter=$candidate
        break
    fi
done
if [[ -n $formatter ]]; then
    mapfile -t formatted < <(printf '%s\n' "${files[@]}" | grep -E '\.[ch]$')
    if "$formatter" --dry-run -Werror "${formatted[@]}"; then
        echo "${#formatted[@]} files are laid out as .clang-format says"
    else
        echo "check_style: run clang-format -i on the files above" >&2
        wrong=1
    fi
else
    echo "clang-format 14 is not installed: layout is not checked"
fi
exit "$wrong"
