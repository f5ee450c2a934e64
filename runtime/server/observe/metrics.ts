/**
 * Metrics in the Prometheus text format. Gauges read the server's state at each scrape, so a call updates only a
 * counter and two histograms. The library is an optional peer dependency that is loaded only if metrics are used.
 */

import type { Server } from "node:net";
import { promisify } from "node:util";
import type { Counter as CounterType, Histogram as HistogramType, Registry } from "prom-client";
import { asBuffer } from "svc-client/internal/wire/bytes";
import { isErrorCode } from "svc-client/internal/wire/error-codes";
import type { ToolkitRuntimeConfig } from "../../config/config.js";
import type { ReloadStats, Reloads } from "../../config/reload-stats.js";
import type { MetricRegistry } from "../../tool.js";
import type { Reply } from "../call/messages.js";
import type { Observation, Observer } from "../call/observers.js";
import type { ServedTool } from "../call/run/served-tool.js";
import type { LoadStats } from "../load/load-options.js";
import { type MemoryBudget, partsOf } from "../load/memory-budget.js";
import type { DroppedLines } from "../log/safe-logger.js";
import type { ReplayStore, SharedReplayStats } from "../replay/store.js";
import type { AdminSources } from "./admin.js";
import type { Claims } from "./claims.js";
import { loadLibrary, type Prometheus } from "./metrics-library.js";

export interface MetricSources extends Pick<AdminSources, "readiness"> {
  readonly reload: { readonly stats: Reloads };
  readonly tools: readonly ServedTool[];
  readonly config: ToolkitRuntimeConfig;
  /** Undefined for a replay store without statistics. */
  readonly store: Pick<ReplayStore, "maxBytes" | "stats">;
  readonly service: { readonly running: ReadonlyMap<string, number>; readonly load: LoadStats };
  readonly server: Server;
  readonly memory: MemoryBudget;
  readonly claims: Claims;
  readonly log: Readonly<DroppedLines>;
}

/** Maximum number of leaders that are used as labels. Each adds at most one series for each code. */
const MAX_LEADERS = 1_000;
/** Label of all other leaders. Cannot collide, because a leader id contains no space. */
const OTHER_LEADERS = "other leaders";

/** Upper bounds of the buckets, in seconds. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Figures of a shared replay store: gauges, and counters, whose names end in `_total`. */
const SHARED = [
  ["svc_replay_store_up", "1 while the shared replay store accepts new calls.", "up"],
  ["svc_replay_running", "Runs of this process that are registered in the shared replay store.", "running"],
  ["svc_replay_pending_writes", "Writes to the shared replay store that are waiting for a retry.", "pendingWrites"],
  ["svc_replay_renewals_total", "Renewed claims of runs that are still running.", "renewals"],
  [
    "svc_replay_dropped_writes_total",
    "Writes to the shared replay store that were given up; retries of these calls get 409 until their entries expire.",
    "droppedWrites",
  ],
  ["svc_replay_takebacks_total", "Claims that were released because the reply of the store was lost.", "takeBacks"],
  ["svc_replay_losses_total", "Losses of data and replacements of the shared replay store.", "losses"],
  ["svc_replay_reclaimed_total", "Claims that were lost in the shared replay store and written again.", "reclaimed"],
  ["svc_replay_restored_total", "Answers that were lost in the shared replay store and written again.", "restored"],
  ["svc_replay_conflicts_total", "Calls that ran in two processes, which must never happen: alert on it.", "conflicts"],
] as const;

/** Registry of Node's own metrics, shared by all servers of the process so that they are collected once. */
let processRegistry: Registry | undefined;

/** Counts calls and renders all metrics as text. */
export class Metrics implements Observer {
  readonly active = true;
  readonly contentType: string;
  readonly registry: Registry;
  readonly #process: Registry | undefined;
  readonly #calls: CounterType<"tool" | "status" | "code">;
  readonly #duration: HistogramType<"tool">;
  readonly #queue: HistogramType<"tool">;
  readonly #replayed: CounterType<"tool">;
  readonly #late: CounterType<"tool">;
  readonly #refused: CounterType<"code">;
  readonly #leaderCalls: CounterType<"leader" | "code">;
  readonly #leaders = new Set<string>();
  #claims: Claims | undefined;
  /** Created by the first operation, because most servers have no shared replay store. */
  #storeOperations: HistogramType<"operation"> | undefined;

  /**
   * Undefined if no metrics library is installed.
   *
   * @param registry registry of an application, which provides the process metrics itself
   */
  static async load(registry?: MetricRegistry): Promise<Metrics | undefined> {
    const library = await loadLibrary();
    return library && new Metrics(library, registry as Registry | undefined);
  }

  readonly #library: Prometheus;

  private constructor(library: Prometheus, given: Registry | undefined) {
    this.#library = library;
    const { Counter, Registry, collectDefaultMetrics } = library;
    if (given === undefined && processRegistry === undefined) {
      processRegistry = new Registry();
      collectDefaultMetrics({ register: processRegistry });
    }
    this.#process = given === undefined ? processRegistry : undefined;
    const registry = given ?? new Registry();
    this.registry = registry;
    this.contentType = registry.contentType;
    const registers = [registry];
    const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
      new Counter({ name, help, labelNames, registers });
    this.#calls = counter("svc_calls_total", 'Answered calls by tool and error code; code="ok" counts results.', [
      "tool",
      "status",
      "code",
    ]);
    this.#replayed = counter("svc_replay_hits_total", "Calls answered from the replay store.", ["tool"]);
    this.#late = counter("svc_late_results_total", "Results discarded because their call had timed out.", ["tool"]);
    this.#refused = counter("svc_requests_refused_total", "Requests that were refused without running a tool.", [
      "code",
    ]);
    const byLeader = 'Answered calls by leader of the allow-list and error code; code="ok" counts results.';
    this.#leaderCalls = counter("svc_leader_calls_total", byLeader, ["leader", "code"]);
    this.#duration = this.#histogram(
      "svc_call_duration_seconds",
      "Seconds from the headers of a call to its answer.",
      "tool",
    );
    this.#queue = this.#histogram(
      "svc_call_queue_seconds",
      "Seconds that calls wait for processor time or for a free slot of a tool with a concurrency limit.",
      "tool",
    );
  }

  #histogram<L extends string>(name: string, help: string, label: L): HistogramType<L> {
    const labelNames: readonly L[] = [label];
    return new this.#library.Histogram({ name, help, labelNames, buckets: BUCKETS, registers: [this.registry] });
  }

  /** Registers metrics that read the server's state at each scrape. Call it once. */
  read(sources: MetricSources): void {
    this.#claims = sources.claims;
    for (const { fqn: tool } of sources.tools)
      for (const counter of [this.#replayed, this.#late]) counter.inc({ tool }, 0);
    const add = scraped(this.#library, this.registry);
    for (const addMetrics of [addServerMetrics, addReplayMetrics, addLoadMetrics, addReloadMetrics])
      addMetrics(add, sources);
  }

  ended({ tool: { fqn: tool }, request, caller, ms, steps, replayed }: Observation, { status, code }: Reply): void {
    const known = code === undefined ? "ok" : isErrorCode(code) ? code : "other";
    this.#calls.inc({ tool, status: String(status), code: known });
    this.#duration.observe({ tool }, ms / 1000);
    if (steps.queue !== undefined) this.#queue.observe({ tool }, steps.queue / 1000);
    if (replayed) this.#replayed.inc({ tool });
    const leader = caller?.leaderId ?? this.#claims?.(request.headers).listed;
    if (leader !== undefined) this.#leaderCalls.inc({ leader: this.#leaderLabel(leader), code: known });
  }

  /**
   * Label of a listed leader. The number of labels is limited, because lists may be long and removed leaders keep their
   * label.
   */
  #leaderLabel(leader: string): string {
    if (!this.#leaders.has(leader)) {
      if (this.#leaders.size === MAX_LEADERS) return OTHER_LEADERS;
      this.#leaders.add(leader);
    }
    return leader;
  }

  settledLate({ fqn: tool }: ServedTool): void {
    this.#late.inc({ tool });
  }

  /** Counts a request that was answered without running a tool. */
  refused(code: string): void {
    this.#refused.inc({ code });
  }

  /** Counts an operation on a shared replay store. */
  replayOperation(operation: string, ms: number): void {
    this.#storeOperations ??= this.#histogram(
      "svc_replay_store_seconds",
      "Seconds that operations of the shared replay store take.",
      "operation",
    );
    this.#storeOperations.observe({ operation }, ms / 1000);
  }

  /** Values of all metrics, in the Prometheus text format. */
  async text(): Promise<string> {
    return (await this.registry.metrics()) + ((await this.#process?.metrics()) ?? "");
  }
}

type Labels = Readonly<Record<string, string>>;
type Rows = Iterable<readonly [Labels, number]>;

/** Adds a metric without labels, or one with the values of its labels. */
interface AddScraped {
  (name: string, help: string, read: () => number | Promise<number>): void;
  (name: string, help: string, labels: readonly string[], read: () => Rows): void;
}

/**
 * Metrics that are read at each scrape. One whose name ends in `_total` is a counter, and is set to the total that the
 * server counts itself.
 */
function scraped({ Counter, Gauge }: Prometheus, registry: Registry): AddScraped {
  return (
    name: string,
    help: string,
    first: readonly string[] | (() => number | Promise<number>),
    second: () => Rows = () => [],
  ) => {
    const labelNames = typeof first === "function" ? [] : first;
    const rows = async (): Promise<Rows> => (typeof first === "function" ? [[{}, await first()]] : second());
    const configuration = { name, help, labelNames, registers: [registry] };
    if (name.endsWith("_total")) {
      new Counter({
        ...configuration,
        async collect() {
          const read = await rows();
          // Without an await in between, so that simultaneous scrapes do not add up.
          this.reset();
          for (const [labels, value] of read) this.inc(labels, value);
        },
      });
      return;
    }
    new Gauge({
      ...configuration,
      async collect() {
        const read = await rows();
        this.reset();
        for (const [labels, value] of read) this.set(labels, value);
      },
    });
  };
}

function addServerMetrics(
  add: AddScraped,
  { tools, config, service, server, readiness, memory, log }: MetricSources,
): void {
  add("svc_ready", "1 while the server is ready.", () => Number(readiness.unready === undefined));
  add("svc_connections", "Open connections.", promisify(server.getConnections.bind(server)));
  add("svc_tools_running", "Runs of tools, including those whose call has timed out.", ["tool"], () => {
    const { running } = service;
    return tools.map(({ fqn: tool }) => [{ tool }, running.get(tool) ?? 0]);
  });
  add("svc_signing_key_info", "1 for the signing key in use.", ["tool", "public_key"], () =>
    tools.flatMap(({ fqn: tool }) => {
      const key = config.toolConfig(tool)?.signingKey;
      return key === undefined ? [] : [[{ tool, public_key: asBuffer(key.publicKey).toString("hex") }, 1]];
    }),
  );
  add("svc_memory_budget_bytes", "Maximum bytes of each part of the memory.", ["part"], () =>
    rowsOf("part", partsOf(memory)),
  );
  add("svc_log_dropped_total", "Log lines that could not be written.", () => log.dropped);
}

/** A row for each member of an object. */
const rowsOf = (label: string, values: Readonly<Record<string, number>>): Rows =>
  Object.entries(values).map(([name, value]) => [{ [label]: name }, value]);

function addReplayMetrics(add: AddScraped, { store }: MetricSources): void {
  const { maxBytes } = store;
  if (maxBytes !== undefined) add("svc_replay_bound_bytes", "Maximum bytes of the replay memory.", () => maxBytes);
  const stats = store.stats?.bind(store);
  if (stats === undefined) return;
  const { entries, bytes, shared } = stats();
  if (entries !== undefined) add("svc_replay_entries", "Answers stored for retries.", () => stats().entries ?? 0);
  const help = "Bytes of the replay memory in use, including entries of calls that are running.";
  if (bytes !== undefined) add("svc_replay_bytes", help, () => stats().bytes ?? 0);
  if (shared === undefined) return;
  const read = () => stats().shared as SharedReplayStats;
  for (const [name, help, value] of SHARED) add(name, help, () => Number(read()[value]));
  const errors = "Failed operations of the shared replay store, by reason.";
  add("svc_replay_store_errors_total", errors, ["reason"], () => rowsOf("reason", Object.fromEntries(read().errors)));
  const claims = "Claims of calls in the replay store, by outcome.";
  add("svc_replay_claims_total", claims, ["tool", "outcome"], () =>
    [...read().claims].flatMap(([tool, counts]) =>
      Object.entries(counts).map(([outcome, count]) => [{ tool, outcome }, count] as const),
    ),
  );
}

function addLoadMetrics(add: AddScraped, { service: { load } }: MetricSources): void {
  add("svc_body_bytes_in_flight", "Bytes of request bodies held in memory.", () => load.bodyBytes.inFlight);
  const refused = "Connections and calls refused because of load, by reason.";
  add("svc_load_refused_total", refused, ["reason"], () => rowsOf("reason", load.refused));
  const queued = "Calls that are waiting for a free slot of a tool with a concurrency limit.";
  add("svc_calls_queued", queued, ["tool"], () => [...load.tools].map(([tool, { queued }]) => [{ tool }, queued]));
}

function addReloadMetrics(add: AddScraped, { reload }: MetricSources): void {
  const eachFile = <T>(read: (stats: ReloadStats, file: string) => T): T[] => {
    const { config, allowList, certificate } = reload.stats;
    const all = { config, allow_list: allowList, certificate };
    return Object.entries(all).flatMap(([file, stats]) => (stats === undefined ? [] : [read(stats, file)]));
  };
  const reloads = "New versions of the configuration, allow-list and certificate, by outcome.";
  add("svc_reloads_total", reloads, ["file", "outcome"], () =>
    eachFile((stats, file) =>
      (["applied", "refused"] as const).map((outcome) => [{ file, outcome }, stats[outcome]] as const),
    ).flat(),
  );
  const age = "Seconds since the file was last confirmed to contain the version in use.";
  add("svc_file_last_good_age_seconds", age, ["file"], () =>
    eachFile(({ lastGoodAgeMs }, file) => [{ file }, lastGoodAgeMs / 1000]),
  );
  const faulty = "1 while the content of the file is refused and an earlier version remains in use.";
  add("svc_file_faulty", faulty, ["file"], () =>
    eachFile(({ fault }, file) => [{ file }, Number(fault !== undefined)]),
  );
  if (reload.stats.certificateExpiresAt === undefined) return;
  const expiry = "Expiry of the certificate in use, in seconds since 1970.";
  add(
    "svc_certificate_expiry_timestamp_seconds",
    expiry,
    () => (reload.stats.certificateExpiresAt ?? Number.NaN) / 1000,
  );
}
