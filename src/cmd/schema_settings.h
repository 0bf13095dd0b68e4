/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Schemas of .moeplan.yaml and of what validate --format json prints. */
#ifndef MOEPLAN_CMD_SCHEMA_SETTINGS_H
#define MOEPLAN_CMD_SCHEMA_SETTINGS_H

#include "emit/json_writer.h"

void schema_settings(struct json_writer *w);
void schema_report(struct json_writer *w);

#endif
