/**
 * The state machine of `svc-gen dev`: pure, without processes and files. At rest its last report says either that the
 * newest good build serves, or what is wrong.
 */

/** A build without errors. Builds with the same key need no restart. */
export interface Startable {
  readonly key: string;
}

export interface Machine<Build extends Startable> {
  /** Whether the previous process serves until the next one does. Otherwise it ends first. */
  readonly overlaps: boolean;
  readonly isBuilding: boolean;
  readonly isStopping: boolean;
  /** The newest build without errors. */
  readonly newest: Build | undefined;
  /** The build of the process that is starting. */
  readonly starting: Build | undefined;
  /** Whether the starting process was asked to end. */
  readonly isCancelled: boolean;
  readonly serving: { readonly build: Build; readonly url: string } | undefined;
  readonly fault: Fault | undefined;
}

/** The reason why the current sources do not serve. */
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
  /** A run of the generator begins. */
  | { readonly on: "building" }
  /** The run found the project unchanged. Reported only if the run was announced. */
  | { readonly on: "unchanged"; readonly isAnnounced: boolean }
  /** The run reported errors. */
  | { readonly on: "errors" }
  /** The run failed without a result. */
  | { readonly on: "broken"; readonly reason: string }
  /** The run gave a build. */
  | { readonly on: "built"; readonly build: Build }
  /** The newest build has other variables. */
  | { readonly on: "renewed"; readonly build: Build }
  /** A file that a build needs to start cannot be read or written. */
  | { readonly on: "unready"; readonly of: "built" | "renewed"; readonly reason: string }
  /** The compiled files were deleted. */
  | { readonly on: "lost" }
  /** The outcomes of a start. */
  | { readonly on: "serving"; readonly url: string }
  | { readonly on: "failed"; readonly reason: string }
  | { readonly on: "cancelled" }
  /** The serving process ended by itself. */
  | { readonly on: "ended"; readonly reason: string }
  | { readonly on: "stop" };

/** The current state, for the user. `ended` is also reported while another process starts. */
export type Report<Build extends Startable> =
  | {
      readonly state: "serving";
      readonly build: Build;
      readonly url: string;
      /** Whether it is a new process. */
      readonly isNew: boolean;
      /** Whether something newer is wrong. */
      readonly isBehind: boolean;
    }
  | { readonly state: "failed"; readonly reason: string; readonly serving: boolean }
  | { readonly state: "ended"; readonly reason: string }
  /** Errors of the generator, which were reported before, are still there. */
  | { readonly state: "errors"; readonly serving: boolean };

export type Effect<Build extends Startable> =
  | { readonly do: "start"; readonly build: Build }
  /** Asks the starting process to end. Its outcome is still an input. */
  | { readonly do: "cancel" }
  /** Writes the compiled files again. */
  | { readonly do: "write"; readonly build: Build }
  | { readonly do: "report"; readonly report: Report<Build> }
  /** Ends all processes. */
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

/** Returns the state after an input, and the effects to carry out. */
export function step<Build extends Startable>(machine: Machine<Build>, input: Input<Build>): Transition<Build> {
  // The outcomes of ending processes are not reported.
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
    case "lost":
      return afterLoss(machine);
    case "serving":
      return afterStart(machine, input.url);
    case "failed":
      return afterFailure(machine, input.reason);
    case "cancelled":
      return proceed(settled(machine));
    case "ended":
      return afterEnd(machine, input.reason);
    case "stop":
      return [{ ...machine, isStopping: true }, [{ do: "close" }]];
  }
}

/** Without a starting process. */
function settled<Build extends Startable>(machine: Machine<Build>): Machine<Build> {
  return { ...machine, starting: undefined, isCancelled: false };
}

/** Starts the newest build unless its process serves or starts already. */
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

/** Restores deleted files. A process that has loaded them goes on; any other one starts again. */
function afterLoss<Build extends Startable>(machine: Machine<Build>): Transition<Build> {
  const { newest, starting, serving } = machine;
  if (newest === undefined) return [machine, []];
  if (starting !== undefined) return cancel(machine);
  if (serving?.build.key === newest.key) return [machine, [{ do: "write", build: newest }]];
  return proceed({ ...machine, fault: faultOfSources(machine) });
}

/** A fault that only another run of the generator ends. */
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
