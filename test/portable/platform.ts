/** What each platform runs: the vectors, and calls of a server. Bundled for browsers (bundle.ts). */

import { JsonText, LeaderClient, LeaderError } from "svc-runtime/leader";
import { selectEngine } from "#client/wire/portable/ed25519.js";
import { runWireCases, WIRE_FILES } from "../vectors/wire-cases.js";

/** The recorded files and their cases, as JSON values. */
export type VectorFiles = Readonly<Record<string, unknown>>;

/** The number of cases of each file, and the faults of those that failed. */
export interface Conformance {
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

/** Runs the vectors, signatures by the portable engine unless another is given. */
export function runVectors(files: VectorFiles, { engine } = selectEngine()): Conformance {
  const counts: Record<string, number> = {};
  const faults: string[] = [];
  for (const file of WIRE_FILES) {
    const outcomes = [...runWireCases(file, files[file], [engine])];
    counts[file] = outcomes.length;
    for (const { name, fault } of outcomes) if (fault !== undefined) faults.push(`${file} ${name}: ${fault}`);
  }
  return { counts, faults };
}

export interface Target {
  readonly url: string;
  /** The leader's private key and the tool's public key, in hex. */
  readonly leaderKey: string;
  readonly toolKey: string;
}

/** One signed call with an exact retry, and the errors of a refused one: values that JSON carries. */
export async function callSigned({ url, leaderKey, toolKey }: Target) {
  const client = await LeaderClient.connect(url, { leader: { id: "alice", keyId: 0, key: leaderKey }, toolKey });
  const request = client.sign({ value: new JsonText('{"big":18446744073709551615,"text":"é😀"}') });
  const first = await client.send(request);
  const second = await client.send(request);
  const other = await refusal(client.send({ ...request, body: client.sign({ value: 1 }).body }));
  return {
    health: await client.health(),
    signature: first.signature,
    value: String((first.value.value as { big: bigint }).big) + (first.value.value as { text: string }).text,
    same: first.bcs.every((byte, i) => byte === second.bcs[i]) && first.bcs.length === second.bcs.length,
    changed: other,
  };
}

export async function callUnsigned(url: string): Promise<unknown> {
  const client = await LeaderClient.connect(url);
  return (await client.invokeUnsigned({ value: 7 })).value.value;
}

/** The fault of the client, or `none`. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "none";
  } catch (error) {
    return error instanceof LeaderError ? `${error.status ?? ""} ${error.code}`.trim() : String(error);
  }
}

/** The fault of a client that reads the metadata of a tool. */
export function connectFault(url: string): Promise<string> {
  return refusal(LeaderClient.connect(url));
}
