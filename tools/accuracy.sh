#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# accuracy.sh MOEPLAN: writes docs/accuracy.md and docs/accuracy/predicted.svg: the throughput that the program predicts
# for every public run in docs/accuracy/runs.jsonl, beside the measured one. Needs nothing but sh, sed and awk.
set -eu
moeplan=$1
docs=$(dirname "$0")/../docs
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# id|tokens/s|TFLOP/s|model|platform|precision|GPUs|tp|pp|vpp|cp|ep|mbs|source
awk '
    function field(text, key) {
        if (!match(text, "\"" key "\":\"?[^\",}]*")) return ""
        text = substr(text, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
        sub(/^"/, "", text)
        return text
    }
    {
        at = index($0, "\"plan\":")
        run = substr($0, 1, at - 1)
        plan = substr($0, at + 7)
        model = plan ~ /"base":/ ? field(plan, "base") " *" : field(plan, "model")
        printf "%s|%s|%s|%s", field(run, "id"), field(run, "tokens_per_s_per_gpu") + 0, field(run, "tflops_per_gpu") + 0, model
        n = split("platform precision gpus tp pp vpp cp ep mbs", keys, " ")
        for (i = 1; i <= n; i++) printf "|%s", field(plan, keys[i])
        print "|" field(run, "source")
    }' "$docs/accuracy/runs.jsonl" >"$dir/runs"

sed 's/^\({"id":"[^"]*"\),.*,"plan":/\1,"plan":/' "$docs/accuracy/runs.jsonl" | # a request has no measurement
    "$moeplan" estimate --batch |
    sed 's/^{"id":"\([^"]*\)".*"step_s":\([^,]*\),"step_low_s":\([^,]*\),"step_high_s":\([^,]*\),"tokens_per_s_per_gpu":\([^,]*\),"model_tflops_per_gpu":\([^,]*\),.*/\1|\2|\3|\4|\5|\6/' >"$dir/estimates"

# id|model|platform|precision|gpus|layout|measured|predicted|low|high|error|source, in tokens/s and GPU
awk -F'|' -v OFS='|' '
    NR == FNR { step[$1] = $2; low[$1] = $3; high[$1] = $4; rate[$1] = $5; tflops[$1] = $6; next }
    {
        measured = $2 > 0 ? $2 : $3 / tflops[$1] * rate[$1]
        layout = "tp " $8 " pp " $9 ($10 > 1 ? " vpp " $10 : "") ($11 > 1 ? " cp " $11 : "") ($12 > 1 ? " ep " $12 : "") " mbs " $13
        error = rate[$1] / measured - 1
        print $1, $4, $5, $6, $7, layout, measured, rate[$1], rate[$1] * step[$1] / high[$1], rate[$1] * step[$1] / low[$1], error, $14
    }' "$dir/estimates" "$dir/runs" | sort -t'|' -k2,2 -k3,3 -k1,1 >"$dir/table"

quantile() { # PART: of the absolute errors
    awk -F'|' '{ printf "%.6f\n", ($11 < 0 ? -$11 : $11) }' "$dir/table" | sort -n |
        awk -v part="$1" '{ e[NR] = $1 } END { i = int(part * NR) + 1; if (i > NR) i = NR; printf "%.1f", 100 * e[i] }'
}

{
    echo "# Predicted and measured throughput"
    echo
    echo "Written by \`tools/accuracy.sh\`; do not edit. Every run is public and named in the last column. The coefficients were"
    echo "fitted to these runs among others, all models and machines together, so this page shows how well they fit and not how"
    echo "accurate they are: README.md has the figures of runs left out, and \`tools/fit/runs.py\` prints them. No run, model or layout has a"
    echo "term of its own. The interval is meant to hold nine runs of ten. An asterisk marks a model with fewer layers or other MTP"
    echo "depths than the published one."
    echo
    awk -F'|' '{ printf "%.6f|%s on %s %+.0f %%\n", ($11 < 0 ? -$11 : $11), $2, $3, 100 * $11 }' "$dir/table" | sort -rn | head -6 |
        awk -F'|' '{ printf "%s%s", (NR > 1 ? ", " : "What misses most: "), $2 } END { print "." }'
    echo "Qwen3-235B-A22B's steps on H800 with eight stages took 13 to 20 % longer than those with 32 that differ in nothing else that is"
    echo "published; runs of 2025 do not name their dispatcher; for gpt-oss and Llama 4 no cause is known."
    echo
    awk -F'|' '{ n++; held += $7 >= $9 && $7 <= $10; width[n] = ($10 - $9) / $8 }
        END { printf "%d runs; the interval holds %d of them. ", n, held }' "$dir/table"
    echo "Absolute error: median $(quantile 0.5) %, nine in ten within $(quantile 0.9) %."
    echo
    echo "![predicted against measured](accuracy/predicted.svg)"
    echo
    echo "| model | platform | precision | GPUs | layout | measured | predicted | interval | error | run |"
    echo "|---|---|---|--:|---|--:|--:|--:|--:|---|"
    awk -F'|' '{ printf "| %s | %s | %s | %s | %s | %.0f | %.0f | %.0f to %.0f | %+.1f %% | %s: %s |\n",
        $2, $3, $4, $5, $6, $7, $8, $9, $10, 100 * $11, $1, $12 }' "$dir/table"
    echo
    echo "Tokens a second and GPU."
} >"$docs/accuracy.md"

# Both axes logarithmic from 100 to 100,000; the grey band is within 10 %.
awk -F'|' '
    function x(v) { return 60 + 180 * (log(v) / log(10) - 2) }
    function y(v) { return 620 - 180 * (log(v) / log(10) - 2) }
    BEGIN {
        print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 680\" font-family=\"sans-serif\" font-size=\"12\">"
        print "<rect width=\"640\" height=\"680\" fill=\"white\"/>"
        printf "<polygon points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f\" fill=\"#e4e4e4\"/>\n",
            x(100), y(110), x(1e5 / 1.1), y(1e5), x(1e5), y(1e5 / 1.1), x(110), y(100)
        for (v = 100; v <= 1e5; v *= 10) {
            printf "<path d=\"M%.1f %.1fV%.1fM%.1f %.1fH%.1f\" stroke=\"#bbb\" fill=\"none\"/>\n", x(v), y(100), y(1e5), x(100), y(v), x(1e5)
            printf "<text x=\"%.1f\" y=\"636\" text-anchor=\"middle\">%d</text>", x(v), v
            printf "<text x=\"54\" y=\"%.1f\" text-anchor=\"end\">%d</text>\n", y(v) + 4, v
        }
        print "<text x=\"330\" y=\"660\" text-anchor=\"middle\">measured, tokens/s/GPU</text>"
        print "<text transform=\"translate(14 350) rotate(-90)\" text-anchor=\"middle\">predicted</text>"
        n = split("a100 h100 h800 b200 b300 gb200 gb300", name, " ")
        split("#777777 #1b6ca8 #35a29f #d1495b #8e5572 #edae49 #2e933c", tone, " ")
        for (i = 1; i <= n; i++) colour[name[i]] = tone[i]
    }
    {
        c = ($3 in colour) ? colour[$3] : "#000000"
        seen[$3] = c
        printf "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\" stroke-opacity=\"0.35\"/>", x($7), y($9), y($10), c
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>%s %s %s: %+.1f %%</title></circle>\n", x($7), y($8), c, $1, $2, $3, 100 * $11
    }
    END {
        for (i = 1; i <= n; i++)
            if (name[i] in seen) {
                row++
                printf "<circle cx=\"76\" cy=\"%d\" r=\"4\" fill=\"%s\"/><text x=\"86\" y=\"%d\">%s</text>\n", 86 + 18 * row, seen[name[i]], 90 + 18 * row, name[i]
            }
        print "</svg>"
    }' "$dir/table" >"$docs/accuracy/predicted.svg"
