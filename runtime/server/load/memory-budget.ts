/**
 * Splits the memory limit of a process into parts, each with its own limit, so that no traffic can make the operating
 * system kill the process.
 *
 * The memory limit is that of the container or machine, unless one is set. V8's heap and Node itself are subtracted;
 * replay memory, bodies, connections and answers, also those that tools read, share the rest. The decoded values of
 * calls are part of the heap.
 */

import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import { numberSetting } from "../../config/environment.js";
import { StartupError } from "../errors/startup-error.js";

const MIB = 1_048_576;
/** Memory of an idle Node process outside the heap (code, stacks, libraries); 25 MB were measured. */
const PROCESS_BYTES = 32 * MIB;
/** Memory of an open connection with half a request; 15 KB were measured, and 67 KB with TLS. */
const CONNECTION_BYTES = 16_384;
const TLS_CONNECTION_BYTES = 73_728;
/** Heap reserved for everything except decoded values: modules, requests, garbage collection. */
const HEAP_RESERVE = 64 * MIB;

interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** Default size of a part: its share of the memory outside heap and process, within limits. */
interface Part extends Bounds {
  readonly share: number;
}

/** Default maximum number of open connections, if the memory suffices. */
const MAX_CONNECTIONS = 4_096;

const PARTS = {
  /** The replay memory gets the rest. */
  replay: { least: 8 * MIB, most: 512 * MIB },
  bodies: { share: 0.2, least: MIB, most: 64 * MIB },
  answers: { share: 0.1, least: 8 * MIB, most: 64 * MIB },
  httpAnswers: { share: 0.1, least: 4 * MIB, most: 512 * MIB },
  connections: {
    plain: { share: 0.2, least: 4 * MIB, most: MAX_CONNECTIONS * CONNECTION_BYTES },
    tls: { share: 0.2, least: 4 * MIB, most: MAX_CONNECTIONS * TLS_CONNECTION_BYTES },
  },
} as const;

/** Sizes set in code, which override environment variables. */
export interface MemorySettings {
  readonly memoryLimit?: number | undefined;
  readonly replayMaxBytes?: number | undefined;
  readonly maxBodyBytesInFlight?: number | undefined;
  readonly maxConnections?: number | undefined;
}

export interface MemoryUse {
  /** Maximum size of a call's body, in bytes. */
  readonly bodyLimit: bigint;
  /** Whether the server uses the replay memory whose size the budget sets. */
  readonly remembers: boolean;
  /** Bytes that the application's own replay store may take in this process. */
  readonly ownStore: number;
  /** Whether the server owns the connections; false for tools mounted in an application. */
  readonly listens: boolean;
  readonly tls: boolean;
}

/** Memory of the machine, in bytes. */
export interface HostMemory {
  /** Limit of the container; undefined if there is none. */
  readonly container: number | undefined;
  readonly machine: number;
  /** Maximum heap of the main thread. */
  readonly heap: number;
}

/** The budget, in bytes. */
export interface MemoryBudget {
  readonly limit: number;
  /** Source of the limit, for messages. */
  readonly source: string;
  readonly heap: number;
  readonly replay: number;
  readonly bodies: number;
  readonly answers: number;
  /** Bytes of the answers that runs have read from other services. */
  readonly httpAnswers: number;
  /** Heap for the decoded values of calls. */
  readonly values: number;
  /** Maximum number of open connections. */
  readonly maxConnections: number;
  /** Sentence for the log if the parts add up to more than the limit. */
  readonly warning: string | undefined;
}

/** The limit and the parts of a budget in bytes, by name, for logs and metrics. */
export function partsOf(budget: MemoryBudget): Record<string, number> {
  const { limit, heap, replay, bodies, values, answers, httpAnswers } = budget;
  return { limit, heap, replay, bodies, values, answers, httpAnswers };
}

export function hostMemory(): HostMemory {
  const machine = totalmem();
  const constrained = process.constrainedMemory() ?? 0;
  return {
    // Without a limit, cgroups report more memory than any machine has.
    container: constrained > 0 && constrained < machine ? constrained : undefined,
    machine,
    heap: getHeapStatistics().heap_size_limit,
  };
}

/**
 * Splits the memory of the process.
 *
 * @throws RangeError for an invalid setting; {@link StartupError} if replay memory, bodies and answers alone reach the
 * limit
 */
export function memoryBudget(settings: MemorySettings, use: MemoryUse, host: HostMemory = hostMemory()): MemoryBudget {
  const { heap } = host;
  const { limit, source } = limitOf(settings.memoryLimit, host);
  const room = Math.max(0, limit - heap - PROCESS_BYTES);
  const within = ({ least, most }: Bounds, bytes: number) => Math.min(most, Math.max(least, Math.floor(bytes)));
  const part = (bounds: Part) => within(bounds, room * bounds.share);
  const bodies = bodyBytesBound(
    numberSetting("maxBodyBytesInFlight", settings.maxBodyBytesInFlight),
    use.bodyLimit,
    part(PARTS.bodies),
    Math.max(room, limit / 4),
  );
  const answers = part(PARTS.answers);
  const httpAnswers = part(PARTS.httpAnswers);
  const perConnection = use.tls ? TLS_CONNECTION_BYTES : CONNECTION_BYTES;
  const maxConnections =
    numberSetting("maxConnections", settings.maxConnections)?.value ??
    Math.floor(part(PARTS.connections[use.tls ? "tls" : "plain"]) / perConnection);
  const connections = use.listens ? maxConnections * perConnection : 0;
  const replay =
    numberSetting("replayMaxBytes", settings.replayMaxBytes)?.value ??
    within(PARTS.replay, room - bodies - answers - httpAnswers - connections);
  const held = {
    "replay memory": use.remembers ? replay : use.ownStore,
    bodies,
    answers,
    "answers of other services": httpAnswers,
    "Node itself": PROCESS_BYTES,
  };
  const all = { heap, ...held, connections };
  const list = Object.entries(all).flatMap(([name, bytes]) => (bytes === 0 ? [] : `${name} ${mib(bytes)}`));
  const together = sum(Object.values(all));
  const sentence = `of ${mib(limit)} (${source}): ${list.join(", ")}, in total ${mib(together)}; ${REMEDY}`;
  if (sum(Object.values(held)) >= limit) {
    throw new StartupError(
      `the memory limit is too small: replay memory, request bodies and answers alone exceed the limit ${sentence}`,
    );
  }
  return {
    ...{ limit, source, heap, replay, bodies, answers, httpAnswers, maxConnections },
    values: Math.max(HEAP_RESERVE / 4, Math.floor((heap - HEAP_RESERVE) / 2)),
    warning: together <= limit ? undefined : `memory use may exceed the limit ${sentence}`,
  };
}

const REMEDY =
  "raise the limit, or lower NODE_OPTIONS=--max-old-space-size, SVC_REPLAY_MAX_BYTES, SVC_MAX_BODY_BYTES_IN_FLIGHT or SVC_MAX_CONNECTIONS";

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
const mib = (bytes: number) => `${Math.round(bytes / MIB)} MiB`;

function limitOf(given: number | undefined, { container, machine }: HostMemory): { limit: number; source: string } {
  const set = numberSetting("memoryLimit", given);
  if (set !== undefined) return { limit: set.value, source: set.name };
  return container === undefined
    ? { limit: machine, source: "the memory of this machine" }
    : { limit: container, source: "the limit of this container" };
}

/**
 * Limit on the total bytes of bodies held in memory, for a given size limit of single bodies. It is at least twice the
 * size limit, so that the largest body is admitted when no other is held.
 *
 * @param given the configured limit in bytes, with the name of its setting
 * @param share the default limit, in bytes
 * @param most the memory available, in bytes: a single body gets at most half of it, whatever its own limit
 * @throws RangeError for a configured total limit below twice the size limit
 */
export function bodyBytesBound(
  given: { readonly name: string; readonly value: number } | undefined,
  bodyLimit: bigint,
  share: number,
  most: number,
): number {
  const twice = 2n * bodyLimit;
  const least = twice > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(twice);
  if (given === undefined) return Math.max(share, Math.min(least, most));
  const { name, value: bound } = given;
  if (bound >= least) return bound;
  throw new RangeError(
    `${name}: expected at least twice invoke_max_body_bytes, ${twice} bytes, got ${bound}; a body of ${bodyLimit} bytes could never be read`,
  );
}
