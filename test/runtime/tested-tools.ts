/** Tools that the tests of the test kit call. */

import {
  type AuthContext,
  type DataRef,
  errEval,
  type InvokeContext,
  PermissionDenied,
  portJson,
  StatusCode,
  SvcTool,
} from "svc-runtime";

export interface Input {
  /** @format int64 */
  id: bigint;
  /** Without a format. */
  plain?: bigint;
  when: Date;
  data: Uint8Array;
  tags: string[];
  /** @maxLength 8 */
  name: string;
  /** @maximum 10 */
  count?: number;
  mode: "echo" | "done" | "fail" | "throw" | "wait" | "over" | "store";
}

/** A tree of exact numbers. */
export interface Node {
  /** @format uint64 */
  weight: bigint;
  at?: Date;
  children: Node[];
}

export type Output =
  | {
      echo: {
        /** @format int64 */
        id: bigint;
        plain?: bigint;
        when: Date;
        data: Uint8Array;
        tags: string[];
        tree: Node;
      };
    }
  | "done"
  | {
      over: {
        /** @maximum 10 */
        count: number;
      };
    }
  | { stored: { report: DataRef<Node>; parts: DataRef<Node>[] } };

/** What a test wants of the tool, and what it sees of it. */
export const control = {
  /** Resolves when a call in mode `wait` has started. */
  started: () => {},
  /** Ends it. */
  release: Promise.resolve(),
  runs: 0,
  auth: undefined as AuthContext | undefined,
  signal: undefined as InvokeContext["signal"] | undefined,
  upload: undefined as ((bytes: Uint8Array) => Promise<never>) | undefined,
};

/** Does what its input asks for. */
export class Probe extends SvcTool<Input, Output> {
  static override fqn() {
    return "xyz.test.probe@1";
  }

  static override path() {
    return "probe";
  }

  override authorize({ leaderId }: AuthContext) {
    if (leaderId === "mallory") throw new PermissionDenied("mallory may not");
  }

  override async invoke(input: Input, { auth, log, signal }: InvokeContext): Promise<Output> {
    control.runs++;
    control.auth = auth;
    control.signal = signal;
    log.info({ mode: input.mode }, "asked");
    const { id, plain, when, data, tags } = input;
    const tree: Node = { weight: 2n, at: when, children: [{ weight: 18_446_744_073_709_551_615n, children: [] }] };
    switch (input.mode) {
      case "echo":
        return { echo: { id, ...(plain !== undefined && { plain }), when, data, tags, tree } };
      case "done":
        return "done";
      case "over":
        return { over: { count: 11 } };
      case "fail":
        return errEval("no such city");
      case "throw":
        log.warn({ err: new Error("a replica is away") }, "asks the database");
        throw new Error("the database is away");
      case "wait":
        control.started();
        await control.release;
        return "done";
      case "store": {
        const report = await control.upload?.(portJson(Probe, "stored", "report", tree));
        return { stored: { report: report ?? tree, parts: [tree] } };
      }
    }
  }

  override async health() {
    return StatusCode.OK;
  }
}

/** Another tool of the same server. */
export class Twice extends SvcTool<{ n: number }, { ok: { n: number } }> {
  static override fqn() {
    return "xyz.test.twice@1";
  }

  static override description() {
    return "Doubles a number.";
  }

  static override path() {
    return "twice";
  }

  override async invoke({ n }: { n: number }) {
    return { ok: { n: 2 * n } };
  }

  override async health() {
    return StatusCode.OK;
  }
}
