#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rule_help.sh GENERATE_RULES: the build refuses an error that nothing says how to mend, and says where it is.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/rules"
build() {
    cat > "$dir/rules/a.yaml" <<EOF
moeplan: 1
kind: Rules
rules:
  - id: a
    severity: $1
    rule: plan.ep == 1
    message: m
    parameter: ep
$2
    examples: {good: [{ep: 1}], bad: [{ep: 2}]}
EOF
    "$generate" "$dir/a.c" "$dir/rules" 2> "$dir/said"
}
generate=$1
build warning ""
build error "    help: write 1"
build error "    suggestion: '[1]'"
build error "    fix: {set: {ep: '1'}}"
if build error ""; then
    echo "an error without help was built"
    exit 1
fi
grep -q "a.yaml:4:9: error\[rule-help\]: a is an error without help, suggestion or fix" "$dir/said"
