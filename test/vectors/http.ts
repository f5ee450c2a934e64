/** Sends the recorded requests of http.json to a real process of examples/sum. */

import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { Agent, request } from "undici";
import { publicKeyOf } from "#client/wire/signature/ed25519.js";
import { startExample } from "../e2e/process.js";
import { readVectors } from "./read.js";
import { type Outcome, short } from "./wire-cases.js";

interface HttpCase {
  name: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  extra_headers: Record<string, string>;
  body?: string;
  body_base64?: string;
  body_large?: number;
  label_repeat?: { char: string; times: number };
  tags_count?: number;
  body_repeat?: { char: string; times: number };
  expect: {
    status: number;
    content_type?: string;
    signed: boolean;
    error?: string | null;
    body_hex?: string;
    body_sha256?: string;
    tool_signature?: string;
    url?: string;
  };
}

interface HttpFile {
  tool: {
    fqn: string;
    path: string;
    leader: { leader_id: string; kid: number; private_key: string };
    response_signing_key: string;
  };
  cases: HttpCase[];
}

/** Starts the example, sends the cases in order, stops it. */
export async function* runHttpCases(file: string, directory: string): AsyncGenerator<Outcome> {
  const { tool, cases } = readVectors<HttpFile>(file, directory);
  const { leader_id, kid, private_key } = tool.leader;
  const public_key = Buffer.from(publicKeyOf(Buffer.from(private_key, "hex"))).toString("hex");
  const server = await startExample("sum", {
    signed_http: {
      allowed_leaders: { version: 1, leaders: [{ leader_id, keys: [{ kid, public_key }] }] },
      tools: { [tool.fqn]: { response_signing_key: tool.response_signing_key } },
    },
  });
  const agent = new Agent();
  const plain = cases.find(({ name }) => name === "plain")?.body ?? "";
  try {
    for (const vector of cases) {
      try {
        const answer = await send(`${server.url}/${tool.path}${vector.path}`, vector, bodyOf(vector, plain), agent);
        const faults = differences(vector, answer);
        yield { file, name: vector.name, ...(faults.length > 0 && { fault: faults.join("; ") }) };
      } catch (error) {
        yield { file, name: vector.name, fault: String(error) };
      }
    }
  } finally {
    await agent.destroy();
    await server.stop();
  }
}

/** The body of a case; a large one is built as its recipe says. */
function bodyOf(vector: HttpCase, plain: string): Buffer {
  const { body, body_base64, body_large, label_repeat, tags_count, body_repeat } = vector;
  let built: Buffer;
  if (body_base64 !== undefined) built = Buffer.from(body_base64, "base64");
  else if (body_repeat !== undefined) built = Buffer.from(body_repeat.char.repeat(body_repeat.times));
  else if (label_repeat !== undefined || tags_count !== undefined) {
    const envelope = JSON.parse(plain) as { ports: { port_name: string; value: unknown }[] };
    for (const port of envelope.ports) {
      if (port.port_name === "label" && label_repeat !== undefined) {
        port.value = { one: { kind: "data", data: label_repeat.char.repeat(label_repeat.times) } };
      }
      if (port.port_name === "tags" && tags_count !== undefined) {
        port.value = { many: Array.from({ length: tags_count }, () => ({ kind: "data", data: "t" })) };
      }
    }
    built = Buffer.from(JSON.stringify(envelope));
  } else if (body !== undefined) built = Buffer.from(body);
  else throw new Error("the case has no body and no recipe for one");
  if (body_large !== undefined && built.length !== body_large) {
    throw new Error(`the recipe gives ${built.length} bytes, the case says ${body_large}`);
  }
  return built;
}

interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

async function send(url: string, { method, headers, extra_headers }: HttpCase, body: Buffer, agent: Agent) {
  const own = Object.entries(headers).map(([name, value]) => [`X-Svc-${name}`, value]);
  const sent = { ...extra_headers, ...Object.fromEntries(own) };
  const answer = await request(url, { method, headers: sent, body: method === "GET" ? null : body, dispatcher: agent });
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.from(await answer.body.arrayBuffer()) };
}

function differences({ expect }: HttpCase, { status, headers, body }: HttpAnswer): string[] {
  const faults: string[] = [];
  const compare = (what: string, got: unknown, wanted: unknown) => {
    if (got !== wanted) faults.push(`${what}: expected ${short(wanted)}, got ${short(got)}`);
  };
  const json = () => JSON.parse(body.toString()) as { error?: string; url?: string };
  compare("status", status, expect.status);
  if (expect.content_type !== undefined) compare("content type", headers["content-type"], expect.content_type);
  compare("signed", headers["x-svc-tool-signature"] !== undefined, expect.signed);
  compare("version header", headers["x-svc-sig-v"], expect.signed ? "3" : undefined);
  if (typeof expect.error === "string") compare("error", json().error, expect.error);
  if (typeof expect.body_hex === "string") compare("body", body.toString("hex"), expect.body_hex);
  if (expect.body_sha256 !== undefined) {
    compare("body hash", createHash("sha256").update(body).digest("hex"), expect.body_sha256);
  }
  if (expect.tool_signature !== undefined) {
    compare("tool signature", headers["x-svc-tool-signature"], expect.tool_signature);
  }
  if (expect.url !== undefined) compare("url", json().url, expect.url);
  return faults;
}
