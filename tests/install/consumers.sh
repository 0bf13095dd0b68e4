#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# consumers.sh PROGRAM SOURCE_DIR BUILD_DIR: what `cmake --install` lays down is what the programs of examples/library
# build and run with: C by pkg-config (shared and static) and by CMake, Python by ctypes.
. "$(dirname "$0")/../helpers.sh"
build=$3 prefix=$dir/prefix
[ -f "$build/pages/done" ] && [ -f "$build/libmoeplan.so" ] || {
    echo "skipped: only a part of the build is here"
    exit 77
}
run 0 cmake --install "$build" --prefix "$prefix"
library=$(dirname "$(find "$prefix" -name libmoeplan.a)")
export PKG_CONFIG_PATH="$library/pkgconfig" LD_LIBRARY_PATH="$library"
plan=$source/examples/qwen3-235b-256-h800/plan.yaml

# Other names than the header's are nobody's business.
for symbols in "-D $library/libmoeplan.so" "-g $library/libmoeplan.a"; do
    # shellcheck disable=SC2086 # an option and a file
    nm --defined-only $symbols | awk 'NF == 3 && $2 != "A" {sub("@.*", "", $3); print $3}' | sort >"$dir/shown"
    grep -o 'moeplan_[a-z]*(' "$prefix/include/moeplan.h" | tr -d '(' | sort -u >"$dir/declared"
    diff "$dir/declared" "$dir/shown" || fail "$symbols: not the header's functions"
done

answers() { # COMMAND…: an estimate
    run 0 "$@" "$plan" 256 h800
    has '"peak_gib":'
}
compile() { # OUTPUT OPTION…: by pkg-config, once with the shared library and once without any of our own
    output=$1
    shift
    # shellcheck disable=SC2046 # words
    run 0 cc -o "$dir/$output" "$source/examples/library/estimate.c" "$@"
    answers "$dir/$output"
}
# shellcheck disable=SC2046 # words
compile shared $(pkg-config --cflags --libs moeplan)
# shellcheck disable=SC2046
compile archive $(pkg-config --cflags moeplan) "$library/libmoeplan.a" $(pkg-config --static --libs moeplan | sed 's/-lmoeplan//')

run 0 cmake -S "$source/examples/library" -B "$dir/by-cmake" -DCMAKE_PREFIX_PATH="$prefix"
run 0 cmake --build "$dir/by-cmake"
answers "$dir/by-cmake/estimate"
answers "$dir/by-cmake/estimate-static"

if command -v python3 >/dev/null; then
    export PYTHONDONTWRITEBYTECODE=1
    expect 0 '16384 tokens:' python3 "$source/examples/library/sweep.py" "$dir/sweep.svg"
    grep -q '<polyline points="83.8' "$dir/sweep.svg" || fail "no line in the picture"
    expect 1 'Error: ' env PYTHONPATH="$source/examples/library" python3 -c 'import moeplan; moeplan.estimate(plan=3)'
fi

# Pages and completions: one a command, and words that shells take.
for command in $("$moeplan" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    [ -f "$prefix/share/man/man1/moeplan-$command.1" ] || fail "no page of $command"
done
bash -c '. "$1"; complete_words() { COMP_WORDS=(moeplan "$@"); COMP_CWORD=$#; _moeplan; echo "${COMPREPLY[*]}"; }
    complete_words sug; complete_words suggest --platform gb2; complete_words suggest --format js
    complete_words explain ep-divides-e; complete_words estimate --mod' _ \
    "$prefix/share/bash-completion/completions/moeplan" >"$dir/out"
for words in suggest gb200 json ep-divides-experts --model; do has "$words"; done
for shell in "zsh -n $build/pages/zsh/_moeplan" "fish -n $build/pages/fish/moeplan.fish"; do
    # shellcheck disable=SC2086 # words
    if command -v "${shell%% *}" >/dev/null; then run 0 $shell; fi
done
