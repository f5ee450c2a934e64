// The allow-list of leaders, version 1, inline or in a file (protocol section 10).

import { type BigIntStats, statSync } from "node:fs";
import { resolve } from "node:path";
import { asBuffer } from "../wire/bytes.js";
import type { VerifyKey } from "../wire/ed25519-keys.js";
import { looksLikeKey, readPublicKey } from "./keys.js";
import { readOperatorFile } from "./operator-file.js";
import { ReloadCounter, type ReloadStats } from "./reload-stats.js";
import { ConfigError, DocumentNode, type DocumentSource, type Faults } from "./strict-json.js";

/** Finds leader keys. Look-ups are synchronous and never throw. */
export interface LeaderResolver {
  /**
   * @param leaderId compared exactly
   * @param kid the leader's key id, a u64
   * @returns undefined when the list has no such key
   */
  lookup(leaderId: string, kid: bigint): VerifyKey | undefined;
  /** All keys of the list as it was last read, each once. */
  readonly keys: Iterable<VerifyKey>;
  /** Whether there is no key that a request could name. */
  readonly isEmpty: boolean;
  /** Called once for each distinct failure to refresh a list. Set to the server's log; by default a process warning. */
  onWarning: (message: string) => void;
  /** Statistics of the list's file; undefined for an inline list. */
  readonly reloads: ReloadStats | undefined;
}

/** A parsed allow-list. */
interface AllowedLeaders {
  readonly byLeader: ReadonlyMap<string, ReadonlyMap<bigint, VerifyKey>>;
  /** Keys by their text in the list, so that a new version prepares only added keys. */
  readonly byText: ReadonlyMap<string, VerifyKey>;
}

/** Leader ids that fit in a header (protocol section 5); other listed ids never match. */
const SENDABLE_ID = /^[\x21-\x7e]+$/;

/** @param path as written: one that may be a key appears in no message */
function listSource(path: string, resolved: string): DocumentSource {
  return { title: "allow-list", file: looksLikeKey(path) ? path : resolved };
}

const EMPTY: AllowedLeaders = { byLeader: new Map(), byText: new Map() };

/** An allow-list with checked members and kinds, but unchecked values. */
interface AllowListShape {
  readonly version: DocumentNode;
  readonly keys: readonly LeaderKeyShape[];
}

interface LeaderKeyShape {
  readonly leaderId: string;
  readonly kid: bigint;
  readonly kidNode: DocumentNode;
  readonly publicKey: DocumentNode;
}

/**
 * Checks the members and kinds of an allow-list, which is all that is checked while signed requests are disabled.
 *
 * @throws ConfigError
 */
export function checkAllowListShape(node: DocumentNode): AllowListShape {
  const { version, leaders } = node.members({ required: ["version", "leaders"] });
  const { faults } = node;
  faults.attempt(() => version.integer(0n, 255n));
  const keys = faults.attempt(() =>
    leaders.items().flatMap((leader) => faults.attempt(() => leaderKeys(leader)) ?? []),
  );
  return { version, keys: keys ?? [] };
}

/** The keys of one leader, without those that have a fault. */
function leaderKeys(leader: DocumentNode): LeaderKeyShape[] {
  const { faults } = leader;
  const { leader_id, keys } = leader.members({ required: ["leader_id", "keys"] });
  const leaderId = faults.attempt(() => leader_id.text());
  return keys.items().flatMap((key) => {
    const shape = faults.attempt(() => key.members({ required: ["kid", "public_key"] }));
    if (shape === undefined) return [];
    const text = faults.attempt(() => shape.public_key.text());
    const kid = faults.attempt(() => shape.kid.u64());
    if (leaderId === undefined || text === undefined || kid === undefined) return [];
    return [{ leaderId, kid, kidNode: shape.kid, publicKey: shape.public_key }];
  });
}

/** Checks an allow-list completely. Its faults go to those of the node. */
function readAllowList(node: DocumentNode, previous: AllowedLeaders): AllowedLeaders {
  const { faults } = node;
  const { version, keys } = checkAllowListShape(node);
  faults.attempt(() => {
    if (version.integer(0n, 255n) === 1n) return;
    throw version.fault("1", "another version", "write the list in version 1");
  });
  const byLeader = new Map<string, Map<bigint, VerifyKey>>();
  const byText = new Map<string, VerifyKey>();
  for (const { leaderId, kid, kidNode, publicKey } of keys) {
    faults.attempt(() => {
      const ofLeader = byLeader.get(leaderId) ?? new Map<bigint, VerifyKey>();
      byLeader.set(leaderId, ofLeader);
      if (ofLeader.has(kid)) throw kidNode.fault("given once for a leader", "a repeated one", "remove one of the two");
      const text = publicKey.text();
      const key = byText.get(text) ?? previous.byText.get(text) ?? readVerifyKey(publicKey);
      byText.set(text, key);
      ofLeader.set(kid, key);
    });
  }
  return { byLeader: new Map([...byLeader].filter(([leaderId]) => SENDABLE_ID.test(leaderId))), byText };
}

function readVerifyKey(node: DocumentNode): VerifyKey {
  const reading = readPublicKey(node.text());
  if ("key" in reading) return reading.key;
  throw node.fault(
    "an Ed25519 public key as 64 hex digits, with or without 0x",
    reading.got,
    "copy the leader's public key again",
  );
}

const emitProcessWarning = (message: string): void => process.emitWarning(message);

/** The empty resolver, for disabled signed requests. */
export function noLeaders(): LeaderResolver {
  return new FixedLeaders(EMPTY);
}

/**
 * Reads an inline allow-list.
 *
 * @param previous the replaced resolver, whose prepared keys are reused
 * @throws ConfigError
 */
export function inlineLeaders(node: DocumentNode, previous?: LeaderResolver): LeaderResolver {
  return new FixedLeaders(readAllowList(node, previous instanceof FixedLeaders ? previous.list : EMPTY));
}

/**
 * Reads an allow-list from a file and follows its changes: every look-up compares the file's identity, size and times,
 * and reads it again when they differ. An unreadable or invalid version leaves the previous list in force.
 *
 * @param path relative to the current working directory of the process
 * @param previous the replaced resolver; returned, with its last good version, when it has the same file
 * @throws ConfigError when the file is missing, unreadable or invalid
 */
export function fileLeaders(path: string, previous?: LeaderResolver): LeaderResolver {
  return previous instanceof FileLeaders && previous.path === resolve(path) ? previous : new FileLeaders(path);
}

/**
 * Reads the file of an allow-list once, without following it.
 *
 * @throws ConfigError
 */
export function readLeadersFile(path: string, cwd: string, faults: Faults): LeaderResolver {
  const file = resolve(cwd, path);
  const source = listSource(path, file);
  const reading = readOperatorFile(file);
  if ("fault" in reading) throw new ConfigError(reading.fault, source);
  return new FixedLeaders(readAllowList(DocumentNode.read(reading.bytes, source, faults), EMPTY));
}

/** Whether two resolvers always return the same keys. */
export function sameLeaders(a: LeaderResolver, b: LeaderResolver): boolean {
  if (!(a instanceof FixedLeaders && b instanceof FixedLeaders)) return a === b;
  const [one, other] = [a.list.byLeader, b.list.byLeader];
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

class FixedLeaders implements LeaderResolver {
  onWarning = emitProcessWarning;
  readonly reloads = undefined;
  readonly list: AllowedLeaders;

  constructor(list: AllowedLeaders) {
    this.list = list;
  }

  get keys(): Iterable<VerifyKey> {
    return this.list.byText.values();
  }

  get isEmpty(): boolean {
    return hasNoKey(this.list);
  }

  lookup(leaderId: string, kid: bigint): VerifyKey | undefined {
    return this.list.byLeader.get(leaderId)?.get(kid);
  }
}

function hasNoKey({ byLeader }: AllowedLeaders): boolean {
  return [...byLeader.values()].every((keys) => keys.size === 0);
}

/** A file read within this many milliseconds of its last change may change again with the same time stamp. */
const MIN_STAMP_AGE_MS = 100;

class FileLeaders implements LeaderResolver {
  onWarning = emitProcessWarning;
  readonly reloads = new ReloadCounter();
  readonly path: string;
  readonly #source: DocumentSource;
  #list = EMPTY;
  /** Stamp of the file as last read; undefined to read it again at the next look-up. */
  #stamp: BigIntStats | undefined;
  /** The bytes as last read, valid or not, and their fault. */
  #bytes: Buffer | undefined;
  #fault: ConfigError | undefined;
  /** Faults reported since the file was last good. */
  readonly #reported = new Set<string>();

  constructor(path: string) {
    this.path = resolve(path);
    this.#source = listSource(path, this.path);
    this.#refresh();
    if (this.#fault !== undefined) throw this.#fault;
  }

  get keys(): Iterable<VerifyKey> {
    return this.#list.byText.values();
  }

  get isEmpty(): boolean {
    return hasNoKey(this.#list);
  }

  lookup(leaderId: string, kid: bigint): VerifyKey | undefined {
    try {
      this.#refresh();
      if (this.#fault === undefined) this.#seenGood();
      else this.#report(this.#fault.message);
    } catch (error) {
      this.#stamp = undefined;
      const reason = error instanceof ConfigError ? error : new ConfigError("could not be loaded", this.#source);
      this.#report(reason.message);
    }
    return this.#list.byLeader.get(leaderId)?.get(kid);
  }

  /** Reads the file when it changed. Throws when it cannot be read; an invalid content is recorded in `#fault`. */
  #refresh(): void {
    if (this.#stamp !== undefined && isSameFile(tryStat(this.path), this.#stamp)) return;
    const reading = readOperatorFile(this.path);
    if ("fault" in reading) throw new ConfigError(reading.fault, this.#source);
    const { bytes, stats } = reading;
    if (this.#bytes === undefined || !bytes.equals(this.#bytes)) {
      const first = this.#bytes === undefined;
      this.#bytes = bytes;
      this.#fault = undefined;
      try {
        this.#list = readAllowList(DocumentNode.read(bytes, this.#source), this.#list);
        if (!first) this.reloads.countApplied();
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        this.#fault = error;
      }
    }
    this.#stamp = Math.abs(Date.now() - Number(stats.ctimeMs)) > MIN_STAMP_AGE_MS ? stats : undefined;
  }

  #seenGood(): void {
    this.#reported.clear();
    if (this.reloads.fault === undefined) this.reloads.seenGood();
    else this.reloads.countUnchanged();
  }

  #report(message: string): void {
    if (this.#reported.has(message)) {
      this.reloads.fault = message;
      return;
    }
    this.#reported.add(message);
    this.reloads.countRefused(message);
    try {
      this.onWarning(`${message}; the previous list stays in force`);
    } catch {
      // A failing log must not affect the look-up.
    }
  }
}

/** The stamp of a file; undefined on errors, which reading the file reports. */
function tryStat(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

function isSameFile(a: BigIntStats | undefined, b: BigIntStats): boolean {
  if (a === undefined) return false;
  return a.mtimeNs === b.mtimeNs && a.size === b.size && a.ino === b.ino && a.ctimeNs === b.ctimeNs && a.dev === b.dev;
}
