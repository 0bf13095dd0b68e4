// SPDX-License-Identifier: Apache-2.0
// ajv.cjs FILE: {"schema", "instances": {name: instance}} -> {name: [what is wrong with it]} of those that it refuses.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
let Ajv;
try {
    Ajv = require(require.resolve("ajv/dist/2020", {paths: [path.join(__dirname, "../lsp"), ...(process.env.NODE_PATH || "").split(":")]}));
} catch {
    process.exit(77);
}
const {schema, instances} = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const validate = new Ajv({allErrors: true, strict: false}).compile(schema);
const wrong = {};
for (const [name, instance] of Object.entries(instances))
    if (!validate(instance)) wrong[name] = validate.errors.map((e) => `${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`);
console.log(JSON.stringify(wrong));
