/**
 * The floors: what the same machine does with the same requests when there is nothing but HTTP and crypto, or
 * HTTP and the least work on a body.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { fastify } from "fastify";
import { prepareSigningKey, prepareVerifyKey, selectEngine } from "#client/wire/signature/ed25519.js";

const RESULT = Buffer.from(
  "026f6b030373756d0101023432056c6162656c01010822616e7377657222047461677303010322782201032279220103227a22",
  "hex",
);
const CONTENT_TYPE = "application/vnd.nexus.canonical-tool-response+bcs";
const MESSAGE = Buffer.alloc(161, 7);

const [kind, leaderKey, toolSeed] = process.argv.slice(2) as [string, string, string];
const [host, port] = (process.env.BIND_ADDR ?? "").split(":") as [string, string];

const leader = prepareVerifyKey(Buffer.from(leaderKey, "hex"));
const tool = prepareSigningKey(Buffer.from(toolSeed, "hex"));
const { engine } = selectEngine();

function listen(answer: (headers: Record<string, unknown>, body: Buffer[]) => Record<string, string>): void {
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const headers = answer(request.headers, chunks);
      response.writeHead(200, { "content-type": CONTENT_TYPE, "content-length": RESULT.length, ...headers });
      response.end(RESULT);
    });
  }).listen(Number(port), host, () => process.stderr.write('"msg":"serving"\n'));
}

/** Parses and hashes the same bytes, and says in a header what that alone has cost. */
function listenForBodies(): void {
  listen((_headers, chunks) => {
    const body = Buffer.concat(chunks);
    const before = process.cpuUsage();
    createHash("sha256").update(body).digest();
    JSON.parse(body.toString());
    const { user, system } = process.cpuUsage(before);
    return { "work-micros": String(user + system) };
  });
}

/** The sum tool as a route of fastify, whose own compilers check the input and print the result. */
async function listenWithSchema(): Promise<void> {
  const [{ input_schema }] = JSON.parse(
    readFileSync(new URL("../../examples/sum/meta.json", import.meta.url), "utf8"),
  ) as [{ input_schema: { $schema?: string } }];
  const { $schema: _, ...body } = input_schema;
  const app = fastify({ ajv: { customOptions: { coerceTypes: false, formats: { int64: true } } } });
  const text = { type: "string" } as const;
  const ok = {
    type: "object",
    properties: { sum: { type: "integer" }, label: text, tags: { type: "array", items: text } },
  };
  const response = { 200: { type: "object", properties: { ok } } };
  type Sum = { readonly a: number; readonly b: number; readonly label: string; readonly tags: readonly string[] };
  app.post<{ Body: Sum }>("/sum/invoke", { schema: { body, response } }, async ({ body: { a, b, label, tags } }) => ({
    ok: { sum: a + b, label, tags },
  }));
  await app.listen({ port: Number(port), host });
  process.stderr.write('"msg":"serving"\n');
}

/** Verifies the leader's signature, and signs a result of fixed bytes. */
function signatureOf(headers: Record<string, unknown>): Record<string, string> {
  const hash = Buffer.from(headers["x-svc-input-hash"] as string, "base64url");
  const signature = Buffer.from(headers["x-svc-leader-signature"] as string, "base64url");
  if (!engine.verify(leader, hash, signature)) throw new Error("the load has a bad signature");
  return { "X-Svc-Sig-V": "3", "X-Svc-Tool-Signature": engine.sign(tool, MESSAGE).toString("base64url") };
}

switch (kind) {
  case "node:http and crypto":
    listen(signatureOf);
    break;
  case "fastify":
    await listenWithSchema();
    break;
  case "JSON":
    listenForBodies();
    break;
  default:
    throw new Error("usage: servers.ts KIND LEADER_KEY TOOL_SEED");
}
