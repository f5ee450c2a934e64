// Allow-list of leaders, version 1, inline or in a file (protocol section 10).

import { type BigIntStats, statSync } from "node:fs";
import { resolve } from "node:path";
import { readPublicKey } from "svc-client/internal/keys";
import { asBuffer } from "svc-client/internal/wire/bytes";
import { isLeaderId } from "svc-client/internal/wire/protocol";
import type { VerifyKey } from "svc-client/internal/wire/signature/ed25519-keys";
import type { LeaderResolver } from "./leader-resolver.js";
import { openDocument } from "./open-document.js";
import { digestOf, hiddenPath, isSameFile, readOperatorFile } from "./operator-file.js";
import { DocumentNode, type DocumentSource, type Faults } from "./strict-json.js";

/** A parsed allow-list: keys by leader and key id. */
type AllowedLeaders = ReadonlyMap<string, ReadonlyMap<bigint, VerifyKey>>;

/** @param path in the configuration; messages omit a path that may be a secret */
function listSource(path: string, resolved: string) {
  const file = hiddenPath(path) === undefined ? resolved : path;
  return { title: "allow-list", file, setting: "allowed_leaders_path" } as const;
}

const EMPTY: AllowedLeaders = new Map();

/** One key of a list. Members and kinds are checked, values are not. */
interface LeaderKeyShape {
  readonly leaderId: string;
  readonly kid: bigint;
  readonly kidNode: DocumentNode;
  readonly publicKey: DocumentNode;
}

function listMembers(node: DocumentNode) {
  const elsewhere = { signed_http: "a configuration: write only the value of its allowed_leaders to this file" };
  const remedy = 'write {"version": 1, "leaders": [ … ]}';
  return node.members({ required: ["version", "leaders"], elsewhere, remedy });
}

/**
 * Checks only the members and kinds of an allow-list; values are not checked while signed requests are disabled.
 *
 * @throws ConfigError
 */
export function checkAllowListShape(node: DocumentNode): void {
  const { version, leaders } = listMembers(node);
  node.faults.attempt(() => version.integer(0n, 255n));
  for (const _ of listedKeys(leaders));
}

/** Yields the well-formed keys of all leaders. */
function* listedKeys(leaders: DocumentNode): Generator<LeaderKeyShape> {
  const { faults } = leaders;
  for (const leader of faults.attempt(() => leaders.items()) ?? []) {
    const members = faults.attempt(() => leader.members({ required: ["leader_id", "keys"] }));
    const leaderId = faults.attempt(() => members?.leader_id.text());
    for (const key of faults.attempt(() => members?.keys.items()) ?? []) {
      const shape = faults.attempt(() => key.members({ required: ["kid", "public_key"] }));
      const text = faults.attempt(() => shape?.public_key.text());
      const kid = faults.attempt(() => shape?.kid.u64());
      if (shape === undefined || leaderId === undefined || text === undefined || kid === undefined) continue;
      yield { leaderId, kid, kidNode: shape.kid, publicKey: shape.public_key };
    }
  }
}

/**
 * Checks a whole allow-list. Adds errors to `node.faults`.
 *
 * @param previous current list; a key that is also in this list is not checked again
 */
function readAllowList(node: DocumentNode, previous: AllowedLeaders): AllowedLeaders {
  const { faults } = node;
  const { version, leaders } = listMembers(node);
  faults.attempt(() => {
    if (version.integer(0n, 255n) === 1n) return;
    throw version.fault("1", "another version", "write the list in version 1");
  });
  const sendable = new Map<string, Map<bigint, VerifyKey>>();
  const others = new Map<string, Map<bigint, VerifyKey>>();
  for (const { leaderId, kid, kidNode, publicKey } of listedKeys(leaders)) {
    faults.attempt(() => {
      // An id that is not a valid leader id does not fit in a header, so no request can match it.
      const byLeader = isLeaderId(leaderId) ? sendable : others;
      const ofLeader = byLeader.get(leaderId) ?? new Map<bigint, VerifyKey>();
      if (ofLeader.has(kid))
        throw kidNode.fault(
          "an ID that no other key of the leader has",
          "a repeated one",
          "give a new key of the leader another kid; if this entry is for another leader, correct its leader_id",
        );
      ofLeader.set(kid, readVerifyKey(publicKey, previous.get(leaderId)?.get(kid)));
      byLeader.set(leaderId, ofLeader);
    });
  }
  return sendable;
}

function readVerifyKey(node: DocumentNode, known: VerifyKey | undefined): VerifyKey {
  const reading = readPublicKey(node.text(), known);
  if ("key" in reading) return reading.key;
  throw node.fault(
    "an Ed25519 public key as 64 hex digits, with or without 0x",
    reading.got,
    "copy the leader's public key again",
  );
}

/** Resolver without keys, for disabled signed requests. */
export function noLeaders(): LeaderResolver {
  return new Leaders(EMPTY);
}

/**
 * Reads an inline allow-list.
 *
 * @param previous the resolver to replace; its prepared keys are reused
 * @throws ConfigError
 */
export function inlineLeaders(node: DocumentNode, previous?: LeaderResolver): LeaderResolver {
  return new Leaders(readAllowList(node, previous instanceof Leaders ? previous.list : EMPTY));
}

/**
 * Reads an allow-list from a file; look-ups read later versions.
 *
 * @param path relative to the current working directory of the process
 * @param previous the resolver to replace; if it reads the same file, it is returned, without reading the file again
 * @throws ConfigError if the file is missing, unreadable or invalid
 */
export function fileLeaders(path: string, previous?: LeaderResolver): LeaderResolver {
  return previous instanceof FileLeaders && previous.path === resolve(path) ? previous : new FileLeaders(path);
}

/**
 * Reads an allow-list from a file once.
 *
 * @throws ConfigError
 */
export function readLeadersFile(path: string, cwd: string, faults: Faults): LeaderResolver {
  const file = resolve(cwd, path);
  const source = listSource(path, file);
  return new Leaders(readAllowList(DocumentNode.read(openDocument(source, cwd).bytes, source, faults), EMPTY));
}

/** Whether two resolvers always return the same keys; false for another order in the lists. */
export function sameLeaders(a: LeaderResolver, b: LeaderResolver): boolean {
  if (a instanceof FileLeaders || b instanceof FileLeaders) return a === b;
  return textOf(a as Leaders) === textOf(b as Leaders);
}

function textOf({ list }: Leaders): string {
  const textOfKey = ([kid, { bytes }]: [bigint, VerifyKey]) => `${kid} ${asBuffer(bytes).toString("hex")}`;
  return JSON.stringify([...list].map(([leaderId, keys]) => [leaderId, ...[...keys].map(textOfKey)]));
}

/** Resolver for an allow-list. Only {@link FileLeaders} changes its list. */
class Leaders implements LeaderResolver {
  list: AllowedLeaders;

  constructor(list: AllowedLeaders) {
    this.list = list;
  }

  get keys(): Iterable<VerifyKey> {
    return keysOf(this.list);
  }

  get isEmpty(): boolean {
    return keysOf(this.list).next().done === true;
  }

  get hasOneLeader(): boolean {
    return this.list.size === 1;
  }

  has(leaderId: string): boolean {
    return this.list.has(leaderId);
  }

  lookup(leaderId: string, kid: bigint): VerifyKey | undefined {
    return this.list.get(leaderId)?.get(kid);
  }
}

function* keysOf(list: AllowedLeaders): Generator<VerifyKey> {
  for (const keys of list.values()) yield* keys.values();
}

/** Allow-list in a file, which is read again at a look-up after the file has changed (protocol section 10). */
export class FileLeaders extends Leaders {
  /** Absolute. */
  readonly path: string;
  readonly source: DocumentSource;
  /** Called with the digest of each version that becomes the current one. */
  readonly adopted = new Set<(digest: string) => void>();
  #digest: string;
  /** Stats of the version that was read last, even if it was invalid. */
  #stats: BigIntStats;
  /** Whether a look-up has compared the stats in this turn of the event loop. */
  #isCompared = false;

  /** @throws ConfigError if the file is missing, unreadable or invalid */
  constructor(path: string) {
    const file = resolve(path);
    const source = listSource(path, file);
    const { bytes, stats } = openDocument(source);
    super(readAllowList(DocumentNode.read(bytes, source), EMPTY));
    this.path = file;
    this.source = source;
    this.#digest = digestOf(bytes);
    this.#stats = stats;
  }

  /** Digest of the current version. */
  get digest(): string {
    return this.#digest;
  }

  override lookup(leaderId: string, kid: bigint): VerifyKey | undefined {
    if (!this.#isCompared) {
      this.#isCompared = true;
      setImmediate(this.#turnEnded);
      try {
        this.refresh();
      } catch {
        // The file is missing or invalid. The follower of the file logs why.
      }
    }
    return super.lookup(leaderId, kid);
  }

  readonly #turnEnded = (): void => {
    this.#isCompared = false;
  };

  /**
   * Reads the file and makes its version the current one.
   *
   * @param always also if the stats of the file show no change, because they are not exact on every file system
   * @throws ConfigError if the version is invalid, or the error of the file system; the current version stays
   */
  refresh(always = false): void {
    if (!always && isSameFile(statSync(this.path, { bigint: true }), this.#stats)) return;
    const reading = readOperatorFile(this.path);
    if ("fault" in reading) return;
    this.#stats = reading.stats;
    const digest = digestOf(reading.bytes);
    if (digest === this.#digest) return;
    this.list = this.check(reading.bytes);
    this.#digest = digest;
    for (const notice of this.adopted) notice(digest);
  }

  /** @throws ConfigError if the bytes are not an allow-list */
  check(bytes: Uint8Array): AllowedLeaders {
    return readAllowList(DocumentNode.read(bytes, this.source), this.list);
  }
}
