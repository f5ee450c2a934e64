/** `svc-gen import` of 32 tools that are published on the network, all of them tools of the Rust toolkit. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { REPOSITORY } from "../repository.js";
import { assertInert, type Imported } from "./imported.js";
import { ToolProject } from "./project.js";
import { svcGenIn } from "./run-cli.js";

const META = readFileSync(join(REPOSITORY, "test/generator/published/meta.json"), "utf8");
const TWITTER = "org.network.social.twitter";

interface Result {
  readonly tools: readonly Imported[];
  readonly shared: string;
  readonly refused: readonly { readonly message: string; readonly hint: string }[];
}

describe("the published tools", async () => {
  const project = new ToolProject({ "meta.json": META });
  const { code, out, err } = await svcGenIn(project.root, ["import", "meta.json", "--json"]);
  const { tools, shared, refused } = JSON.parse(out) as Result;
  const source = (file: string) => readFileSync(join(project.root, file), "utf8");
  let built: string | undefined;
  const meta = () => {
    built ??= project.build()["meta.json"] ?? "";
    return built;
  };

  it("are imported with the same ports, except for two that the network refuses", () => {
    assert.deepEqual([code, err], [1, ""]);
    assert.deepEqual([tools.length, tools.filter(({ samePorts }) => !samePorts)], [30, []]);
    // Its optional list is a `many` port, which no signed call can leave out.
    const others = tools.filter(({ verdict }) => verdict !== "same" && verdict !== "compatible");
    assert.deepEqual(
      others.map(({ fqn, verdict }) => [fqn, verdict]),
      [[`${TWITTER}.upload-media@1`, "breaking"]],
    );
    assert.deepEqual(
      refused.map(({ message }) => message),
      [
        `${TWITTER}.get-tweet@1 in "meta.json" cannot be imported: output variant: at most 16 ports, got 28`,
        `${TWITTER}.get-user-by-username@1 in "meta.json" cannot be imported: output variant: at most 16 ports, got 21`,
      ],
    );
    for (const { hint } of refused)
      assert.match(hint, /the network does not register such a tool either: .*one port, such as \{"ok":/);
  });

  it("generate, with a placeholder for a missing description", () => {
    assert.equal((JSON.parse(meta()) as unknown[]).length, 30);
    assert.equal(meta().split('"description": "TODO: describe this tool."').length - 1, 26);
    for (const { file } of tools) assertInert(source(file));
  });

  it("have each shared type once, and import it", () => {
    assert.equal(shared, "src/network-types.ts");
    const declared = [...source(shared).matchAll(/^export (?:interface|type|enum) (\w+)/gm)].map(([, name]) => name);
    assert.equal(new Set(declared).size, declared.length);
    assert.ok(declared.includes("EditControls"));
    const all = tools.map(({ file }) => source(file)).join("\n");
    assert.doesNotMatch(all, /export interface EditControls /);
    assert.match(all, /import type \{[^}]*\bEditControls\b[^}]*\} from "\.\/network-types\.js";/);
  });

  it("keep the comments of enums and the formats of integers", () => {
    const text = source("src/get-spot-price.ts");
    assert.match(
      text,
      /export enum CoinbaseErrorKind \{\n {2}\/\*\* text 11 \*\/\n {2}InvalidRequest = "invalid_request",/,
    );
    assert.match(text, /@format uint16\n {9,}\*\/\n {8}status_code\?: number;/);
    const documents = JSON.parse(meta()) as { fqn: string; output_schema: unknown }[];
    const schema = JSON.stringify(documents.find(({ fqn }) => fqn.endsWith(".get-spot-price@1"))?.output_schema);
    assert.match(
      schema,
      /"status_code":\{"type":\["integer","null"\],"format":"uint16","minimum":0,"maximum":65535,"description":"text 9"\}/,
    );
  });

  it("with tags inside their results are imported with tags outside, which is reported", () => {
    const tagged = tools.filter(({ retagged }) => retagged !== undefined);
    assert.deepEqual(
      tagged.map(({ fqn, retagged }) => [fqn, retagged]),
      [
        ["org.network.http.generic@1", { tag: "type" }],
        ["org.network.templating.jinja@1", { tag: "type" }],
      ],
    );
    assert.match(
      source("src/jinja.ts"),
      /export type Output = \{ ok: \{ result: string \} \} \| \{ err: \{ reason: string \} \};/,
    );
  });

  it("accept object literals, also for nested closed objects", () => {
    const literals = `import type { Input as Request } from "./generic.js";
import type { Input as Price } from "./get-spot-price.js";

export const request: Request = {
  url: "https://example.org/",
  method: "POST",
  body: { json: { data: [1] } },
};
export const price: Price = { currency_pair: "BTC-USD" };
`;
    project.write({ "src/literals.ts": literals });
    const errors = () => project.generate().diagnostics.filter(({ severity }) => severity === "error");
    assert.deepEqual(errors(), []);
    project.write({ "src/literals.ts": `${literals}export const wrong: Price = { pair: "BTC-USD" };\n` });
    assert.match(errors()[0]?.message ?? "", /'pair' does not exist in type 'Input'/);
  });
});
