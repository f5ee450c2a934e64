/** Hints of tools: from the tags of a class to `GET /tools`, OpenAPI and the question of `svc-gen invoke`. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { generateTexts } from "#generator/compile/generate.js";
import { remoteServer } from "#generator/dev/page-server/remote-tools.js";
import { hintsOf } from "#generator/http/tools-at.js";
import { proves } from "../proves.js";
import { exchange, requestText } from "../runtime/raw.js";
import { countingTool, serveFor } from "../runtime/tools.js";
import { ToolProject } from "./project.js";
import { svcGenIn } from "./run-cli.js";

const source = (tags: string, member = "") => `import { SvcTool } from "svc-runtime";
/**
 * Described.
${tags.replaceAll(/^/gm, " * ")}
 */
export class A extends SvcTool<{ a: string }, "done"> {
  static override fqn() { return "xyz.test.aa@1"; }
  ${member} async invoke() { return "done" as const; }
}
`;

test("tags of the class are hints of its contract, and unclear ones are reported", () => {
  const unclear = (detail: string) => `SVC202 this hint of the tool is not clear: ${detail}`;
  for (const [tags, hints, said, member] of [
    ["", undefined],
    ["@readOnly", { readOnly: true }],
    ["@idempotent\n@destructive false\n@openWorld true", { idempotent: true, destructive: false, openWorld: true }],
    ["@readonly", undefined, "SVC174 unknown JSDoc tag: @readonly; did you mean @readOnly?"],
    ["@destruktive", undefined, "SVC174 unknown JSDoc tag: @destruktive; did you mean @destructive?"],
    ["@readOnly It reads.", undefined, unclear("@readOnly: expected nothing or false after it")],
    ["@readOnly\n@destructive", undefined, unclear("a tool that only reads destroys nothing")],
    ["", undefined, unclear("@readOnly is a tag of the class, not of a member"), "/** @readOnly */"],
  ] as const) {
    const { contracts, diagnostics } = generateTexts(new Map([["src/a.ts", source(tags, member)]]));
    assert.deepEqual(
      diagnostics.map(({ code, message }) => `${code} ${message}`),
      said === undefined ? [] : [said],
      tags,
    );
    assert.deepEqual(contracts?.[0]?.hints, hints, tags);
    if (contracts !== undefined) assert.equal(contracts[0]?.description, "Described.");
  }
});

test("the generated files have the hints, except meta.json; OpenAPI has them", async () => {
  const project = new ToolProject({ "src/a.ts": source("@readOnly\n@idempotent false") });
  const { files } = project.generate();
  const text = (path: string) => files.find((file) => file.path === path)?.text ?? assert.fail(path);
  assert.match(text("src/generated/contracts.ts"), /hints: \{ readOnly: true, idempotent: false \},/);
  assert.doesNotMatch(text("meta.json"), /readOnly|idempotent/);
  const { out } = await svcGenIn(project.root, ["openapi"]);
  const { summary, "x-svc-hints": hints } = JSON.parse(out).paths["/invoke"].post;
  assert.deepEqual([summary, hints], ["Call xyz.test.aa@1, only reads", { readOnly: true, idempotent: false }]);
});

test("GET /tools?details lists names, hints, sizes and limits", async () => {
  const plain = countingTool({ path: "plain" });
  const hinted = countingTool({ path: "a/hinted", timeout: 5_000, hints: { destructive: true } });
  const { url } = await serveFor([plain, hinted], { maxInputValues: 2_000 });
  const list = async (query: string) =>
    JSON.parse((await exchange(url, requestText("GET", `/tools${query}`))).body.toString());
  for (const query of ["", "?", "?other=details"]) assert.deepEqual(await list(query), ["plain", "a/hinted"]);
  const limits = { max_body_bytes: 12_582_912, max_input_values: 2_000 };
  const entry = ({ fqn, contract }: typeof plain) => {
    const schema_bytes = contract.inputSchema.length + contract.outputSchema.length;
    return { path: contract.path, fqn, timeout: contract.timeout, schema_bytes, ...limits };
  };
  assert.deepEqual(await list("?details"), [entry(plain), { ...entry(hinted), hints: { destructive: true } }]);
  assert.deepEqual(await hintsOf(`${url}/a/hinted`, undefined), { destructive: true });
  assert.deepEqual(await hintsOf(`${url}/plain`, undefined), {});
  const { tools } = await remoteServer(url, undefined);
  assert.deepEqual(
    tools.map(({ view }) => view.effects),
    [[], ["may delete or overwrite data"]],
  );
  proves("9.20", "9.21");
});

test("invoke asks before a destructive call on a terminal", async () => {
  const tool = countingTool({ path: "wipe", hints: { destructive: true } });
  const harmless = countingTool({ path: "read" });
  const { url } = await serveFor([tool, harmless]);
  const asked: string[] = [];
  const call = async (path: string, answer: string | undefined, ...more: string[]) => {
    const ask =
      answer === undefined
        ? undefined
        : async (question: string) => {
            asked.push(question);
            return answer;
          };
    return (await svcGenIn(process.cwd(), ["invoke", `${url}/${path}`, '{"value":1}', ...more], { ask })).code;
  };
  const codes = [
    await call("wipe", ""),
    await call("wipe", "no"),
    await call("wipe", "y"),
    await call("wipe", "", "--yes"),
    await call("wipe", undefined),
    await call("read", ""),
  ];
  assert.deepEqual(codes, [1, 1, 0, 0, 0, 0]);
  assert.deepEqual([tool.calls.invoked, harmless.calls.invoked], [3, 1]);
  assert.deepEqual(asked, Array(3).fill(`${url}/wipe may delete or overwrite data. Call it? [y/N] `));
});

test("mcp refuses patterns and hints that fit no tool", async () => {
  const { url } = await serveFor([countingTool({ fqn: "xyz.test.only@1", path: "only" })]);
  for (const [options, message] of [
    [["--tools", "xyz.test.onl@*"], "--tools xyz.test.onl@* matches no tool; the tools are xyz.test.only@1"],
    [["--except", "xyz.*,abc"], "--except abc matches no tool; the tools are xyz.test.only@1"],
    [["--except", "*"], "--tools and --except leave no tool to offer"],
    [["--hint", "xyz.test.other@1=readOnly"], "no tool has this FQN; there is xyz.test.only@1"],
    [["--hint", "xyz.test.only@1=readonly"], "did you mean readOnly?"],
  ] as const) {
    const { code, err } = await svcGenIn(process.cwd(), ["mcp", "--url", url, "--unsigned", ...options]);
    assert.equal(code, 2);
    assert.ok(err.includes(message), err);
  }
});
