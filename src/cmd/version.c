/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/left_out.h"
#include "emit/json_writer.h"
#include "facts/profile.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

static void print_text(struct buf *out)
{
    buf_printf(out, "moeplan %s\n", MOEPLAN_VERSION);
    for (size_t i = 0; i < profile_count(); i++) {
        const struct profile *p = profile_at(i);
        buf_printf(out, "  %-10s %-16.*s %-9.*s %-11.*s", framework_name(p->framework),
                   STR_ARG(p->version), STR_ARG(p->commit), STR_ARG(p->date));
        if (p->transformer_engine.n)
            buf_printf(out, " Transformer Engine %.*s", STR_ARG(p->transformer_engine));
        if (p->torch.n)
            buf_printf(out, "%s PyTorch %.*s", p->transformer_engine.n ? "," : "",
                       STR_ARG(p->torch));
        buf_add_char(out, '\n');
    }
}

/* How far estimates of the step time were off where the run's like was not in the fit. */
static void print_accuracy(struct json_writer *w)
{
    static const struct {
        const char *data, *left_out;
        int runs;
        double median, p90;
    } errors[] = {
#define ROW(data, left_out, runs, median, p90) {data, left_out, runs, median, p90},
        LEFT_OUT(ROW)
#undef ROW
    };
    json_open(w, "step_time_error", '[');
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        json_open(w, NULL, '{');
        json_str(w, "data", str_of(errors[i].data));
        json_str(w, "left_out_by", str_of(errors[i].left_out));
        json_int(w, "runs", errors[i].runs);
        json_number(w, "median", errors[i].median, 3);
        json_number(w, "p90", errors[i].p90, 3);
        json_close(w, '}');
    }
    json_close(w, ']');
}

static void print_json(struct buf *out)
{
    struct json_writer w = json_writer_new(out);
    json_open(&w, NULL, '{');
    json_str(&w, "version", STR(MOEPLAN_VERSION));
    json_open(&w, "frameworks", '[');
    for (size_t i = 0; i < profile_count(); i++) {
        const struct profile *p = profile_at(i);
        json_open(&w, NULL, '{');
        json_str(&w, "framework", str_of(framework_name(p->framework)));
        json_str(&w, "framework_version", p->version);
        json_str(&w, "commit", p->commit);
        json_str(&w, "date", p->date);
        json_optional_str(&w, "transformer_engine_version", p->transformer_engine);
        json_optional_str(&w, "torch_version", p->torch);
        json_close(&w, '}');
    }
    json_close(&w, ']');
    print_accuracy(&w);
    json_close(&w, '}');
    buf_add_char(out, '\n');
}

static int run(struct cmd_context *c)
{
    int format;
    if (!option_choice(c, "format", &format)) return STATUS_CANNOT;
    if (format == FORMAT_JSON)
        print_json(&c->out);
    else
        print_text(&c->out);
    return STATUS_OK;
}

static const struct option options[] = {
    {"format", "text|json", "how to print"},
    {0},
};

const struct command command_version = {
    .name = "version",
    .arguments = "",
    .help = "Print the version, and the framework versions that are known",
    .options = options,
    .run = run,
};
