/** Inputs that a caller builds against the types of a tool, sent to a generated server. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { ToolProject } from "../generator/project.js";
import { start } from "../runtime/child.js";

/** A tool that gives back what it got, as text. */
const seeing = (name: string, input: string, declarations = "") => `import { StatusCode, SvcTool } from "svc-runtime";
${declarations}
export class ${name} extends SvcTool<${input}, { ok: { seen: string } }> {
  static override fqn() { return "xyz.test.${name.toLowerCase()}@1"; }
  static override description() { return "Shows its input."; }
  static override path() { return "${name.toLowerCase()}"; }
  override async invoke(input: ${input}) {
    return { ok: { seen: JSON.stringify(input, (_, value) => (typeof value === "bigint" ? \`\${value}n\` : value)).slice(0, 1000) } };
  }
  override async health() { return StatusCode.OK; }
}
`;

const project = new ToolProject({
  "src/payment.ts": seeing(
    "Payment",
    "{ payment: Limited | Approved }",
    `type Limited = {
  /** @maximum 1000 */
  amount: number;
  currency: "EUR" | "USD";
};
type Approved = { amount: number; approvedBy: string };`,
  ),
  "src/times.ts": seeing(
    "Times",
    "{ at: Early | Text }",
    `type Early = {
  t: Date;
  /** @maximum 5 */
  n: number;
};
type Text = { t: string; n: number };`,
  ),
  "src/counts.ts": seeing(
    "Counts",
    "{ of: Exact | Rough }",
    `type Exact = {
  /** @minimum 0 */
  n: bigint;
};
type Rough = { n: number };`,
  ),
  "src/sums.ts": seeing(
    "Sums",
    "{ expr: Expr }",
    'export type Expr = { left: Expr; op: "+"; right: Expr } | { left: Expr; op: "*"; right: Expr } | { value: number };',
  ),
  "src/files.ts": seeing(
    "Files",
    "{ root: Item }",
    "export type Item = { children?: Item[]; file: string } | { children?: Item[]; folder: string };",
  ),
  "src/tree.ts": seeing(
    "Tree",
    "{ root: Node }",
    `export type Node = ${Array.from({ length: 12 }, (_, i) => `{ k: ${i}; a?: Node[] }`).join(" | ")};`,
  ),
});

let url = "";
before(async () => {
  project.build();
  const entry = join(project.root, "src/generated/server.ts");
  const server = start(process.execPath, ["--max-old-space-size=256", "--import", "tsx", entry], {
    BIND_ADDR: "127.0.0.1:0",
  });
  url = await server.url;
});

async function call(tool: string, body: string): Promise<string> {
  const response = await fetch(`${url}/${tool}/invoke`, {
    method: "POST",
    body,
    headers: { accept: "application/json" },
  });
  const json = (await response.json()) as { ok?: { seen: string }; details?: string };
  return json.ok?.seen ?? `${response.status} ${json.details}`;
}

test("a tool never gets a value that its type refuses: members that another branch declares change nothing", async () => {
  for (const [tool, input, wanted] of [
    [
      "payment",
      '{"payment":{"amount":1000000,"currency":"EUR"}}',
      "422 payment.amount: expected a number of at most 1000, got a larger one",
    ],
    [
      "payment",
      '{"payment":{"amount":1000000,"currency":"EUR","approvedBy":"x"}}',
      '{"payment":{"amount":1000000,"approvedBy":"x"}}',
    ],
    [
      "payment",
      '{"payment":{"amount":1000,"currency":"EUR","approvedBy":"x"}}',
      '{"payment":{"amount":1000,"currency":"EUR"}}',
    ],
    ["times", '{"at":{"t":"2024-01-01T00:00:00Z","n":10}}', '{"at":{"t":"2024-01-01T00:00:00Z","n":10}}'],
    ["times", '{"at":{"t":"2024-01-01T00:00:00Z","n":5}}', '{"at":{"t":"2024-01-01T00:00:00.000Z","n":5}}'],
    ["counts", '{"of":{"n":-5}}', '{"of":{"n":-5}}'],
    ["counts", '{"of":{"n":5}}', '{"of":{"n":"5n"}}'],
  ] as const) {
    assert.equal(await call(tool, input), wanted, input);
  }
});

test("recursive unions are matched once for each position of the input, however deep and wrong it is", async () => {
  const nested = (depth: number, op: string) =>
    `{"expr":${'{"left":'.repeat(depth)}{"value":1}${`,"op":"${op}","right":{"value":2}}`.repeat(depth)}}`;
  assert.match(await call("sums", nested(60, "*")), /^\{"expr":/);
  assert.match(await call("sums", nested(125, "*")), /^\{"expr":/);
  assert.match(await call("sums", nested(60, "-")), /^422 expr\./);
  assert.match(await call("sums", nested(125, "-")), /^422 expr\./);
  const files = (depth: number) => `{"root":${'{"children":['.repeat(depth)}{"neither":1}${"]}".repeat(depth)}}`;
  assert.match(await call("files", files(60)), /^422 root\./);
  assert.equal((await fetch(`${url}/sums/health`)).status, 200);
});

test("matching a union of many branches with a body of many nodes succeeds with 256 MB of heap", async () => {
  const body = `{"root":{"k":0,"a":[${Array.from({ length: 80_000 }, () => '{"k":11}').join(",")}]}}`;
  assert.match(await call("tree", body), /^\{"root":\{"k":0,"a":\[\{"k":11\}/);
});
