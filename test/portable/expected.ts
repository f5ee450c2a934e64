/** What every platform must give, and the server that it calls. */

import assert from "node:assert/strict";
import { publicKeyOf } from "svc-runtime/leader";
import type { BootstrapOptions } from "#runtime/index.js";
import { alice, type CountingTool, countingTool, serveFor, serveSigned, TOOL_SEED } from "../runtime/tools.js";
import { readVectors } from "../vectors/read.js";
import { WIRE_FILES } from "../vectors/wire-cases.js";
import type { Conformance, callSigned, Target, VectorFiles } from "./platform.js";

export const FILES: VectorFiles = Object.fromEntries(
  WIRE_FILES.map((file) => [file, readVectors<{ cases: unknown }>(file).cases]),
);

export function expectConformance({ counts, faults }: Conformance): void {
  assert.deepEqual(faults, []);
  assert.deepEqual(
    counts,
    Object.fromEntries(WIRE_FILES.map((file) => [file, (FILES[file] as readonly unknown[]).length])),
  );
}

export interface Served {
  readonly tool: CountingTool;
  readonly target: Target;
}

const echo = () => countingTool({ path: "echo", invoke: ({ value }) => ({ ok: { value } }) });

/** A signed server with an echo tool. */
export async function serveEcho(options: BootstrapOptions = {}): Promise<Served> {
  const tool = echo();
  const { url } = await serveSigned([tool], options);
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
  return {
    tool,
    target: { url: `${url}/echo`, leaderKey: hex(alice.seed), toolKey: hex(publicKeyOf(TOOL_SEED)) },
  };
}

/** The same without signatures. */
export async function serveUnsignedEcho(options: BootstrapOptions = {}): Promise<{ tool: CountingTool; url: string }> {
  const tool = echo();
  return { tool, url: `${(await serveFor([tool], options)).url}/echo` };
}

export function expectSignedCall(result: Awaited<ReturnType<typeof callSigned>>, { tool }: Served): void {
  assert.deepEqual(result, {
    health: 200,
    signature: "verified",
    value: "18446744073709551615é😀",
    same: true,
    changed: "422 input_integrity_error",
  });
  assert.equal(tool.calls.invoked, 1);
}
