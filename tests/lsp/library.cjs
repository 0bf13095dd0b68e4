// SPDX-License-Identifier: Apache-2.0
// library.cjs PROGRAM SOURCE: the server, asked by vscode-languageserver-protocol, the library that editors are built with.
// Where it is not installed (npm install --prefix tests/lsp), there is nothing to ask with.
"use strict";
const assert = require("node:assert");
const {spawn} = require("node:child_process");
const fs = require("node:fs");
let lsp;
try {
    lsp = require("vscode-languageserver-protocol/node");
} catch {
    console.log("skipped: vscode-languageserver-protocol is not installed");
    process.exit(77);
}

const [program, source] = process.argv.slice(2);
const server = spawn(program, ["lsp", "--stdio", "--gpus", "256", "--platform", "h100"], {stdio: ["pipe", "pipe", "inherit"]});
const connection = lsp.createProtocolConnection(new lsp.StreamMessageReader(server.stdout), new lsp.StreamMessageWriter(server.stdin));
const waiting = [];
connection.onNotification(lsp.PublishDiagnosticsNotification.type, (params) => waiting.shift()(params));
connection.listen();
const published = (send) => new Promise((resolve) => {
    waiting.push(resolve);
    send();
});

async function main() {
    const uri = "file:///w/launch.sh";
    const text = fs.readFileSync(`${source}/examples/broken-recipe/launch.sh`, "utf8");
    const lines = text.split("\n");
    const line = lines.findIndex((words) => words.includes("--expert-model-parallel-size"));
    const {capabilities} = await connection.sendRequest(lsp.InitializeRequest.type, {processId: process.pid, rootUri: null, capabilities: {}});
    assert.strictEqual(capabilities.textDocumentSync.change, lsp.TextDocumentSyncKind.Incremental);
    assert.strictEqual(capabilities.positionEncoding, lsp.PositionEncodingKind.UTF16);
    await connection.sendNotification(lsp.InitializedNotification.type, {});

    const first = await published(() => connection.sendNotification(lsp.DidOpenTextDocumentNotification.type,
        {textDocument: {uri, languageId: "shellscript", version: 1, text}}));
    const finding = first.diagnostics.find((d) => d.code === "ep-divides-experts");
    assert.deepStrictEqual(finding.range.start, {line, character: 4});
    assert.strictEqual(finding.severity, lsp.DiagnosticSeverity.Error);

    const document = {textDocument: {uri}}, position = {line, character: 10};
    const hover = await connection.sendRequest(lsp.HoverRequest.type, {...document, position});
    assert.match(hover.contents.value, /256 % 48 = 16/);
    const hints = await connection.sendRequest(lsp.InlayHintRequest.type,
        {...document, range: {start: {line: 0, character: 0}, end: {line: lines.length, character: 0}}});
    assert(hints.some((hint) => hint.label.startsWith("dp ")));

    lines[line] = "    --expert-model-par";
    const second = await published(() => connection.sendNotification(lsp.DidChangeTextDocumentNotification.type,
        {textDocument: {uri, version: 2}, contentChanges: [{text: lines.join("\n")}]}));
    assert.strictEqual(second.version, 2);
    const third = await published(() => connection.sendNotification(lsp.DidChangeTextDocumentNotification.type,
        {textDocument: {uri, version: 3}, contentChanges: [{range: {start: {line, character: 4}, end: {line, character: 4}}, text: "-x"}]}));
    assert.strictEqual(third.version, 3);
    const back = await published(() => connection.sendNotification(lsp.DidChangeTextDocumentNotification.type,
        {textDocument: {uri, version: 4}, contentChanges: [{range: {start: {line, character: 4}, end: {line, character: 6}}, text: ""}]}));
    assert.deepStrictEqual(back.diagnostics, second.diagnostics);
    assert.notDeepStrictEqual(third.diagnostics, second.diagnostics);
    const offered = await connection.sendRequest(lsp.CompletionRequest.type, {...document, position: {line, character: lines[line].length}});
    assert(offered.items.some((item) => item.label === "--expert-model-parallel-size" && item.documentation));
    const actions = await connection.sendRequest(lsp.CodeActionRequest.type,
        {...document, range: {start: {line: 0, character: 0}, end: {line: lines.length, character: 0}}, context: {diagnostics: []}});
    assert(actions.every((action) => lsp.CodeAction.is(action)));

    await assert.rejects(connection.sendRequest("no/such", {}), {code: lsp.ErrorCodes.MethodNotFound});
    const left = new Promise((resolve) => server.on("exit", resolve));
    await connection.sendRequest(lsp.ShutdownRequest.type);
    await connection.sendNotification(lsp.ExitNotification.type);
    assert.strictEqual(await left, 0);
    connection.dispose();
}

main().catch((error) => {
    console.error(error);
    server.kill();
    process.exit(1);
});
