#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# address.sh PROGRAM SOURCE URI [GENERATE_SITE]: a program that was built with the site's address ends each finding with its rule's,
# in every form that has one, and what it names is a page of the site.
. "$(dirname "$0")/../helpers.sh"
uri=$3 generate=${4:-}
launch=$source/examples/broken-recipe/launch.sh
run 1 "$moeplan" validate "$launch"
has "= more: moeplan explain ep-divides-experts, ${uri}rule/ep-divides-experts.html"
run 1 "$moeplan" validate "$launch" --format sarif
has "\"helpUri\":\"${uri}rule/ep-divides-experts.html\""
has "\"informationUri\":\"$uri\""
grep -o "\"helpUri\":\"${uri}[^\"]*" "$dir/out" | sed "s|\"helpUri\":\"$uri||" | sort -u >"$dir/pages"
[ "$(wc -l <"$dir/pages")" -ge 5 ] || fail "few rules have an address"

# a rule of the user's own has no page there
printf '%s\n' 'moeplan: 1' 'kind: Rules' 'rules:' '  - {id: house-rule, severity: error, rule: plan.ep < 4, message: too many, help: less,' \
    '     examples: {good: [{ep: 1}], bad: [{ep: 8}]}}' >"$dir/rules.yaml"
plan64 >"$dir/plan.yaml"
run 1 "$moeplan" validate "$dir/plan.yaml" --rules "$dir/rules.yaml" --select house-rule
has "explain house-rule"
lacks "rule/house-rule.html"

[ -n "$generate" ] || exit 0
"$generate" "$source" "$dir/site" >/dev/null
while read -r page; do
    [ -f "$dir/site/$page" ] || fail "the site has no $page"
done <"$dir/pages"
