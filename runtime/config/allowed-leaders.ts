// Allow-list of leaders, version 1, inline or in a file (protocol section 10).

import { resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { readPublicKey } from "svc-client/internal/keys";
import { asBuffer } from "svc-client/internal/wire/bytes";
import type { VerifyKey } from "svc-client/internal/wire/crypto/ed25519-keys";
import { isLeaderId } from "svc-client/internal/wire/protocol";
import type { LeaderResolver } from "./leader-resolver.js";
import { openDocument } from "./open-document.js";
import { digestOf, type HashedFile, hiddenPath } from "./operator-file.js";
import { parseJsonAside } from "./parse-aside.js";
import { DocumentNode, type DocumentSource, type Faults, notJson } from "./strict-json.js";

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

/** Yields the valid keys of all leaders, and undefined after the keys of each leader, so that each leader is a step. */
function* listedKeys(leaders: DocumentNode): Generator<LeaderKeyShape | undefined> {
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
    yield undefined;
  }
}

/**
 * Checks a whole allow-list, one key for each step. Adds errors to `node.faults`.
 *
 * @param previous current list; a key that is also in this list is not checked again
 */
function* readingSteps(node: DocumentNode, previous: AllowedLeaders): Generator<void, AllowedLeaders> {
  const { faults } = node;
  const { version, leaders } = listMembers(node);
  faults.attempt(() => {
    if (version.integer(0n, 255n) === 1n) return;
    throw version.fault("1", "another version", "write the list in version 1");
  });
  const sendable = new Map<string, Map<bigint, VerifyKey>>();
  const others = new Map<string, Map<bigint, VerifyKey>>();
  for (const shape of listedKeys(leaders)) {
    yield;
    if (shape === undefined) continue;
    const { leaderId, kid, kidNode, publicKey } = shape;
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

function readAllowList(node: DocumentNode, previous: AllowedLeaders): AllowedLeaders {
  const steps = readingSteps(node, previous);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Length of a time slice on an idle event loop, in milliseconds. */
const SLICE_MS = 4;
/**
 * Maximum length of a time slice, in milliseconds. Under load, a slice is a third of the time since the previous one.
 */
const MAX_SLICE_MS = 25;
/** Number of steps between two readings of the clock. Checking a key takes up to 0.1 ms. */
const STEPS = 8;

/**
 * Reads an allow-list in time slices, between which the event loop runs. The slices get a minimum share of the time, so
 * that constant load cannot delay the removal of a revoked key.
 *
 * @returns undefined if the signal is aborted
 */
async function readInSlices(
  node: DocumentNode,
  previous: AllowedLeaders,
  signal: AbortSignal,
): Promise<AllowedLeaders | undefined> {
  const steps = readingSteps(node, previous);
  for (let sliceMs = SLICE_MS; !signal.aborted; ) {
    const end = performance.now() + sliceMs;
    do {
      for (let i = 0; i < STEPS; i++) {
        const step = steps.next();
        if (step.done === true) return step.value;
      }
    } while (performance.now() < end);
    const ended = performance.now();
    await setImmediate();
    sliceMs = Math.min(Math.max(SLICE_MS, (performance.now() - ended) / 3), MAX_SLICE_MS);
  }
  return undefined;
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
 * Reads an allow-list from a file; {@link FileLeaders.adopt} reads later versions.
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

/** Whether two resolvers always return the same keys. */
export function sameLeaders(a: LeaderResolver, b: LeaderResolver): boolean {
  if (a instanceof FileLeaders || b instanceof FileLeaders) return a === b;
  const [one, other] = [(a as Leaders).list, (b as Leaders).list];
  return one.size === other.size && [...one].every(([leaderId, keys]) => sameKeys(keys, other.get(leaderId)));
}

function sameKeys(a: ReadonlyMap<bigint, VerifyKey>, b: ReadonlyMap<bigint, VerifyKey> | undefined): boolean {
  return (
    a.size === b?.size &&
    [...a].every(([kid, key]) => {
      const other = b.get(kid);
      return other !== undefined && asBuffer(other.bytes).equals(key.bytes);
    })
  );
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

/** Allow-list in a file. Contains the current version until {@link adopt} replaces it. */
export class FileLeaders extends Leaders {
  /** Absolute. */
  readonly path: string;
  readonly source: DocumentSource;
  #digest: string;

  /** @throws ConfigError if the file is missing, unreadable or invalid */
  constructor(path: string) {
    const file = resolve(path);
    const source = listSource(path, file);
    const { bytes } = openDocument(source);
    super(readAllowList(DocumentNode.read(bytes, source), EMPTY));
    this.path = file;
    this.source = source;
    this.#digest = digestOf(bytes);
  }

  /** Digest of the current version. */
  get digest(): string {
    return this.#digest;
  }

  /**
   * Reads a version while calls are served, and makes it the current one unless the signal is aborted first.
   *
   * @throws ConfigError if the version is invalid; the current version stays
   */
  async adopt({ bytes, digest }: HashedFile, signal: AbortSignal): Promise<void> {
    // Several servers may share a configuration, and each watches its file.
    if (digest === this.#digest) return;
    const parsed = await parseJsonAside(bytes, signal);
    if ("fault" in parsed) throw notJson(parsed.fault, parsed.bytes, this.source);
    const list = await readInSlices(DocumentNode.of(parsed.document, this.source), this.list, signal);
    if (list === undefined) return;
    this.list = list;
    this.#digest = digest;
  }
}
