import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { readSigningKey } from "svc-runtime/internal/config";
import type { NewFile } from "../files/new-files.js";

export interface ConfigFacts {
  readonly tools: readonly string[];
  readonly leaderId: string;
  /** Public key of the leader; if undefined, a new pair is created. */
  readonly leaderKey: string | undefined;
  /** Private key of every tool; if undefined, a new one is created for each. */
  readonly toolKey: string | undefined;
}

export interface NewConfig {
  readonly files: readonly NewFile[];
  /** Public keys of the tools, by name. */
  readonly publicKeys: ReadonlyMap<string, string>;
}

/**
 * Creates a configuration that requires signatures. If the leader has no key yet, a new pair is added as files in the
 * folder `keys` next to the configuration.
 */
export function signedConfig(target: string, { tools, leaderId, leaderKey, toolKey }: ConfigFacts): NewConfig {
  const keys = join(dirname(target), "keys");
  const leaderPrivate = newPrivateKey();
  const leaderPublic = leaderKey ?? publicHex(leaderPrivate);
  const privateKeys = new Map(tools.map((fqn) => [fqn, toolKey ?? newPrivateKey()]));
  const document = {
    signed_http: {
      allowed_leaders: {
        version: 1,
        leaders: [{ leader_id: leaderId, keys: [{ kid: 0, public_key: leaderPublic }] }],
      },
      tools: Object.fromEntries([...privateKeys].map(([fqn, key]) => [fqn, { response_signing_key: key }])),
    },
  };
  const files: NewFile[] = [{ target, content: print(document), isPrivate: true }];
  if (leaderKey === undefined) {
    files.push({ target: join(keys, "leader.key"), content: `${leaderPrivate}\n`, isPrivate: true });
    files.push({ target: join(keys, "leader.pub"), content: `${leaderPublic}\n`, isPrivate: false });
  }
  return { files, publicKeys: new Map([...privateKeys].map(([fqn, key]) => [fqn, publicHex(key)])) };
}

/** A configuration that disables signatures. */
export function unsignedConfig(target: string): NewConfig {
  const content = print({ signed_http: { mode: "disabled" } });
  return { files: [{ target, content, isPrivate: false }], publicKeys: new Map() };
}

function print(document: object): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function publicHex(privateKey: string): string {
  const reading = readSigningKey(privateKey);
  if ("got" in reading) throw new TypeError(`expected a private key, got ${reading.got}`);
  return Buffer.from(reading.key.publicKey).toString("hex");
}

function newPrivateKey(): string {
  return randomBytes(32).toString("hex");
}
