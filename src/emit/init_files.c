/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/init_files.h"

#include "base/buf.h"

/* "0.1" of 0.1.0: rules that come with a later one are infos until the pin moves. */
static struct str rules_version(void)
{
    struct str version = STR(MOEPLAN_VERSION);
    size_t end = version.n;
    while (end > 0 && version.p[end - 1] != '.')
        end--;
    return str_slice(version, 0, end ? end - 1 : version.n);
}

static void open_fact(struct buf *out, size_t open, size_t all, const char *what, const char *line)
{
    if (open) buf_printf(out, "#   %s # %zu of %zu recipes do not say %s\n", line, open, all, what);
}

struct str init_settings(struct arena *a, const struct init_survey *s)
{
    struct buf out = buf_new(a);
    buf_add(&out, STR("# What moeplan cannot read in the recipes themselves.\nmoeplan: 1\n"
                      "kind: Settings\n"));
    buf_printf(&out, "rules: \"%.*s\" # later rules are infos until this moves\n",
               STR_ARG(rules_version()));
    if (!s->without_gpus && !s->without_platform) return buf_str(&out);
    buf_add(&out, STR("# defaults:\n"));
    open_fact(&out, s->without_gpus, s->all, "for how many GPUs they are", "gpus: 64");
    open_fact(&out, s->without_platform, s->all, "on which GPUs they run", "platform: h100");
    if (s->without_gpus)
        buf_add(&out, STR("# paths: # or by what their names say\n"
                          "#   - match: \"**/*_{gpus}gpu*\"\n"));
    return buf_str(&out);
}

#define ARCHIVE "moeplan-" MOEPLAN_VERSION "-linux-x86_64"

/* The commands that fetch moeplan; each line begins with `indent`. */
static void add_fetching(struct buf *out, const char *indent)
{
    static const char *const lines[] = {
        "curl -fsSL -o " ARCHIVE ".tar.gz \"$MOEPLAN_RELEASE/" ARCHIVE ".tar.gz\" "
        "-o SHA256SUMS \"$MOEPLAN_RELEASE/SHA256SUMS\"",
        "sha256sum --check --ignore-missing SHA256SUMS", "tar -xzf " ARCHIVE ".tar.gz -C /tmp",
        "PATH=/tmp/" ARCHIVE "/bin:$PATH"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        buf_printf(out, "%s%s\n", indent, lines[i]);
}

struct str init_github(struct arena *a, struct str release)
{
    struct buf out = buf_new(a);
    buf_add(&out, STR("name: moeplan\non: [push, pull_request]\npermissions: {contents: read}\n"
                      "jobs:\n  recipes:\n    runs-on: ubuntu-latest\n    steps:\n"
                      "      - uses: actions/checkout@v4\n"
                      "      - name: Check the recipes\n        env:\n"));
    buf_printf(&out, "          MOEPLAN_RELEASE: %.*s # where a release lies\n        run: |\n",
               STR_ARG(release.n ? release : STR("${{ vars.MOEPLAN_RELEASE }}")));
    add_fetching(&out, "          ");
    buf_add(&out, STR("          moeplan validate . --format github\n"));
    return buf_str(&out);
}

struct str init_gitlab(struct arena *a, struct str release)
{
    struct buf out = buf_new(a);
    buf_add(&out, STR("moeplan:\n"));
    if (release.n)
        buf_printf(&out, "  variables:\n    MOEPLAN_RELEASE: \"%.*s\"\n", STR_ARG(release));
    else
        buf_add(&out, STR("  # MOEPLAN_RELEASE, a variable of the project, says where a release "
                          "lies\n"));
    buf_add(&out, STR("  script:\n    - |\n"));
    add_fetching(&out, "      ");
    buf_add(&out,
            STR("      moeplan validate . --format gitlab -o gl-code-quality-report.json || true\n"
                "      moeplan validate .\n"
                "  artifacts:\n    when: always\n"
                "    reports: {codequality: gl-code-quality-report.json}\n"));
    return buf_str(&out);
}

struct str init_pre_commit(struct arena *a, bool whole)
{
    return arena_printf(a,
                        "%s  - repo: local\n    hooks:\n      - id: moeplan\n"
                        "        name: moeplan\n        entry: moeplan validate .\n"
                        "        language: system\n        pass_filenames: false\n",
                        whole ? "repos:\n" : "");
}
