#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# readme.sh PROGRAM SOURCE_DIR [--bless]: README.md, docs/using.md, docs/start and examples/*/README.md show commands with what they print, in
# ```console blocks. Every `$ command` is run in the page's folder (docs: the root) with moeplan on the PATH, and must print (stdout and
# stderr) what stands below it. --bless writes the outputs into the pages: look at the difference before you commit it.
set -u
program=$(realpath "$1") source=$(realpath "$2") bless=${3:-}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin"
ln -s "$program" "$dir/bin/moeplan"
PATH=$dir/bin:$PATH LC_ALL=C.UTF-8
unset NO_COLOR
export PATH LC_ALL

# The page on stdin with the outputs of its console blocks made anew. $? in a command is the status of the one before.
rerun() { # FOLDER to run in
    block='' status=0
    while IFS= read -r line; do
        case $block$line in
        '```console') block=in: ;;
        'in:```') block='' ;;
        'in:$ '*)
            printf '%s\n' "$line"
            command=${line#??}
            while [ "${line%\\}" != "$line" ] && IFS= read -r line; do
                printf '%s\n' "$line"
                command="${command%\\} $line"
            done
            (cd "$1" && (exit $status); eval "$command") </dev/null 2>&1
            status=$?
            continue
            ;;
        in:*) continue ;;
        esac
        printf '%s\n' "$line"
    done
}

# how many rules there are is not the business of a page
masked() { sed 's/[0-9]* rules\{0,1\} skipped/N rules skipped/' "$1"; }

failed=0
for page in "$source/README.md" "$source/docs/using.md" "$source"/docs/start/*.md "$source"/examples/*/README.md; do
    [ -f "$page" ] || continue
    case $page in "$source"/docs/*) folder=$source ;; *) folder=$(dirname "$page") ;; esac
    rerun "$folder" <"$page" >"$dir/actual"
    masked "$page" >"$dir/expected.masked"
    masked "$dir/actual" >"$dir/actual.masked"
    cmp -s "$dir/expected.masked" "$dir/actual.masked" && continue
    if [ "$bless" = --bless ]; then
        cat "$dir/actual" >"$page"
    else
        diff -u "$dir/expected.masked" "$dir/actual.masked"
        echo "${page#"$source"/} differs from what the program prints"
        failed=1
    fi
done
# the picture of the first page is its own command's
picture=$source/docs/first-screen.svg
"$program" suggest deepseek-v3 --gpus 256 --platform gb200 --format svg >"$dir/picture" 2>/dev/null
if [ "$bless" = --bless ]; then
    cp "$dir/picture" "$picture"
elif ! cmp -s "$picture" "$dir/picture"; then
    echo "docs/first-screen.svg is not what the program prints"
    failed=1
fi
exit $failed
