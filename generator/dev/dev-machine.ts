/**
 * State machine of `svc-gen dev`, without processes and files. When nothing is in progress, its last report tells
 * either that the newest good build is served, or why it is not.
 */

/** A build without errors. If two builds have the same key, no restart is needed. */
export interface Startable {
  readonly key: string;
}

export interface Machine<Build extends Startable> {
  /** Whether the previous process serves until the next one does. Otherwise the previous one ends first. */
  readonly overlaps: boolean;
  readonly isBuilding: boolean;
  readonly isStopping: boolean;
  readonly newest: Build | undefined;
  readonly starting: Build | undefined;
  /** Whether the starting process was told to end. */
  readonly isCancelled: boolean;
  readonly serving: { readonly build: Build; readonly url: string } | undefined;
  readonly fault: Fault | undefined;
}

/** Reason why the current sources are not served. */
export type Fault =
  /** The last run of the generator reported errors. */
  | { readonly kind: "errors" }
  /** The generator itself failed. */
  | { readonly kind: "broken"; readonly reason: string }
  /** The newest build did not start, or a file that it needs could not be read or written. */
  | { readonly kind: "failed"; readonly reason: string }
  /** The process of the newest build ended by itself. */
  | { readonly kind: "ended"; readonly reason: string };

export type Phase = "starting" | "building" | "serving" | "failing" | "stopping";

export type Input<Build extends Startable> =
  /** A run of the generator has begun. */
  | { readonly on: "building" }
  /** The run found the project unchanged. The user sees this only if the start of the run was announced. */
  | { readonly on: "unchanged"; readonly isAnnounced: boolean }
  | { readonly on: "errors" }
  /** The run failed without a result. */
  | { readonly on: "broken"; readonly reason: string }
  /** The run succeeded. */
  | { readonly on: "built"; readonly build: Build }
  /** The environment variables of the newest build have changed. */
  | { readonly on: "renewed"; readonly build: Build }
  /** A file that a build needs to start cannot be read or written. */
  | { readonly on: "unready"; readonly of: "built" | "renewed"; readonly reason: string }
  /** Outcomes of a start. */
  | { readonly on: "serving"; readonly url: string }
  | { readonly on: "failed"; readonly reason: string }
  | { readonly on: "cancelled" }
  /** The serving process ended unexpectedly. */
  | { readonly on: "ended"; readonly reason: string }
  /** The process that ended is to be replaced. */
  | { readonly on: "again" }
  | { readonly on: "stop" };

/** Current state, for the user. `ended` is also reported while another process starts. */
export type Report<Build extends Startable> =
  | {
      readonly state: "serving";
      readonly build: Build;
      readonly url: string;
      readonly isNew: boolean;
      /** Whether the newest sources are not served because of a fault. */
      readonly isBehind: boolean;
    }
  | { readonly state: "failed"; readonly reason: string; readonly serving: boolean }
  | { readonly state: "ended"; readonly reason: string }
  /** The errors that were reported before are still there. */
  | { readonly state: "errors"; readonly serving: boolean };

export type Effect<Build extends Startable> =
  | { readonly do: "start"; readonly build: Build }
  /** Tells the starting process to end; its outcome is still an input. */
  | { readonly do: "cancel" }
  | { readonly do: "report"; readonly report: Report<Build> }
  | { readonly do: "close" };

type Transition<Build extends Startable> = readonly [Machine<Build>, readonly Effect<Build>[]];

export function newMachine<Build extends Startable>(overlaps: boolean): Machine<Build> {
  return {
    overlaps,
    isBuilding: true,
    isStopping: false,
    newest: undefined,
    starting: undefined,
    isCancelled: false,
    serving: undefined,
    fault: undefined,
  };
}

export function phaseOf({ isStopping, starting, isBuilding, fault }: Machine<Startable>): Phase {
  if (isStopping) return "stopping";
  if (starting !== undefined) return "starting";
  if (isBuilding) return "building";
  return fault === undefined ? "serving" : "failing";
}

export function step<Build extends Startable>(machine: Machine<Build>, input: Input<Build>): Transition<Build> {
  // Outcomes of processes that end because of the stop are not reported.
  if (machine.isStopping) return [machine, []];
  const idle = { ...machine, isBuilding: false };
  switch (input.on) {
    case "building":
      return [{ ...machine, isBuilding: true }, []];
    case "unchanged":
      return [idle, input.isAnnounced && idle.starting === undefined ? restate(idle) : []];
    case "errors":
      return [{ ...idle, fault: { kind: "errors" } }, []];
    case "broken":
      return fail(idle, { kind: "broken", reason: input.reason });
    case "unready": {
      const next = input.of === "built" ? { ...idle, fault: undefined } : machine;
      return fail(next, faultOfSources(next) ?? { kind: "failed", reason: input.reason }, input.reason);
    }
    case "built":
      return proceed({ ...idle, newest: input.build, fault: undefined });
    case "renewed":
      return proceed({ ...machine, newest: input.build, fault: faultOfSources(machine) });
    case "serving":
      return afterStart(machine, input.url);
    case "failed":
      return afterFailure(machine, input.reason);
    case "cancelled":
      return proceed(settled(machine));
    case "ended":
      return afterEnd(machine, input.reason);
    case "again":
      return machine.fault?.kind === "ended" ? proceed({ ...machine, fault: undefined }) : [machine, []];
    case "stop":
      return [{ ...machine, isStopping: true }, [{ do: "close" }]];
  }
}

/** The state without a starting process. */
function settled<Build extends Startable>(machine: Machine<Build>): Machine<Build> {
  return { ...machine, starting: undefined, isCancelled: false };
}

/** Starts the newest build, unless its process is serving or starting. */
function proceed<Build extends Startable>(machine: Machine<Build>): Transition<Build> {
  const { newest, starting, serving, overlaps } = machine;
  if (newest === undefined) return [machine, []];
  if (starting !== undefined) return starting.key === newest.key ? [machine, []] : cancel(machine);
  if (serving?.build.key === newest.key) return [machine, [servingReport(machine, serving, false)]];
  const kept = overlaps ? serving : undefined;
  return [{ ...machine, starting: newest, serving: kept }, [{ do: "start", build: newest }]];
}

function cancel<Build extends Startable>(machine: Machine<Build>): Transition<Build> {
  return machine.isCancelled ? [machine, []] : [{ ...machine, isCancelled: true }, [{ do: "cancel" }]];
}

function afterStart<Build extends Startable>(machine: Machine<Build>, url: string): Transition<Build> {
  const { starting, newest } = machine;
  if (starting === undefined) return [machine, []];
  const serving = { build: starting, url };
  const next = { ...settled(machine), serving };
  const report = servingReport(next, serving, true);
  if (starting.key === newest?.key) return [next, [report]];
  const [last, effects] = proceed(next);
  return [last, [report, ...effects]];
}

function fail<Build extends Startable>(
  machine: Machine<Build>,
  fault: Fault,
  reason = "reason" in fault ? fault.reason : "",
): Transition<Build> {
  const report = { state: "failed", reason, serving: machine.serving !== undefined } as const;
  return [{ ...machine, fault }, [{ do: "report", report }]];
}

function afterFailure<Build extends Startable>(machine: Machine<Build>, reason: string): Transition<Build> {
  const { isCancelled, fault } = machine;
  const next = settled(machine);
  if (isCancelled) return proceed(next);
  return fail(next, fault ?? { kind: "failed", reason }, reason);
}

function afterEnd<Build extends Startable>(machine: Machine<Build>, reason: string): Transition<Build> {
  const { starting, fault } = machine;
  const next = { ...machine, serving: undefined };
  const report = { state: "ended", reason } as const;
  return [
    starting === undefined ? { ...next, fault: fault ?? { kind: "ended", reason } } : next,
    [{ do: "report", report }],
  ];
}

/** A fault that only another run of the generator can end. */
function faultOfSources({ fault }: Machine<Startable>): Fault | undefined {
  return fault?.kind === "errors" || fault?.kind === "broken" ? fault : undefined;
}

function restate<Build extends Startable>(machine: Machine<Build>): readonly Effect<Build>[] {
  const { fault, serving } = machine;
  if (fault === undefined) return serving === undefined ? [] : [servingReport(machine, serving, false)];
  const isServing = serving !== undefined;
  const report: Report<Build> =
    fault.kind === "errors"
      ? { state: "errors", serving: isServing }
      : fault.kind === "ended"
        ? { state: "ended", reason: fault.reason }
        : { state: "failed", reason: fault.reason, serving: isServing };
  return [{ do: "report", report }];
}

function servingReport<Build extends Startable>(
  { fault }: Machine<Build>,
  { build, url }: { readonly build: Build; readonly url: string },
  isNew: boolean,
): Effect<Build> {
  return { do: "report", report: { state: "serving", build, url, isNew, isBehind: fault !== undefined } };
}
