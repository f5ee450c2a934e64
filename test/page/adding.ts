/** A small tool with a contract written by hand, for servers in this process. */

import { StatusCode, SvcTool } from "#runtime/index.js";
import type { Contract } from "#runtime/v1.js";

interface Input {
  a: number;
  b: number;
  words: string[];
}

export class Adding extends SvcTool<Input, { ok: { sum: number } }> {
  static override fqn() {
    return "xyz.page.adding@1";
  }
  static override description() {
    return "Adds two numbers.";
  }
  override async invoke({ a, b }: Input) {
    return { ok: { sum: a + b } };
  }
  override async health() {
    return StatusCode.OK;
  }
}

const numbers = (names: readonly string[]) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "number" }])),
  required: names,
});

export const CONTRACTS: readonly Contract[] = [
  {
    fqn: "xyz.page.adding@1",
    description: "Adds two numbers.",
    path: "",
    timeout: 10_000,
    inputSchema: JSON.stringify({
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" }, words: { type: "array", items: { type: "string" } } },
      required: ["a", "b", "words"],
    }),
    outputSchema: JSON.stringify({
      oneOf: [{ type: "object", properties: { ok: numbers(["sum"]) }, required: ["ok"], additionalProperties: false }],
    }),
    input: [
      { name: "a", many: false, codec: { kind: "number" } },
      { name: "b", many: false, codec: { kind: "number" } },
      { name: "words", many: true, codec: { kind: "string" } },
    ],
    output: [{ name: "ok", ports: [{ name: "sum", many: false, codec: { kind: "number" } }] }],
  },
];
