/* SPDX-License-Identifier: Apache-2.0 */
/* Where libyaml is stricter than PyYAML, which loads these files in the frameworks: unknown
   directives, `{key:,}`, and block scalars that begin with a tab. The text is then changed a little
   and read again. */
#ifndef MOEPLAN_DOC_YAML_REPAIR_H
#define MOEPLAN_DOC_YAML_REPAIR_H

#include <yaml.h>

#include "base/vec.h"

struct yaml_repair {
    struct arena *arena;
    struct str text; /* what libyaml is to read */
    VEC(size_t)
    inserted;  /* code points of `text` that the file does not have, in the order of insertion */
    bool tabs; /* some tabs stand as a placeholder */
    int n;
};

/* Changes the text so that the parser's error does not come again; false when the error is a true
   one. */
bool yaml_repair(struct yaml_repair *r, const yaml_parser_t *parser);
/* The file's code point for one of the text. */
size_t yaml_repair_origin(const struct yaml_repair *r, size_t point);
/* Puts tabs back into a scalar, in place; gives its new length. */
size_t yaml_repair_scalar(const struct yaml_repair *r, char *text, size_t n);

#endif
