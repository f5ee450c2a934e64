import { type InvokeContext, SvcTool } from "svc-runtime";

export interface Input {
  /** @format int64 */
  a: bigint;
  /** @format int64 */
  b: bigint;
  /** Shown with the result. */
  label: string;
  /** 1 to 256 words, returned unchanged. */
  tags: string[];
  note?: string;
}

export type Output =
  | {
      ok: {
        /** @format int64 */
        sum: bigint;
        label: string;
        tags: string[];
      };
    }
  | { err: { reason: string } };

const LARGEST = 2n ** 63n - 1n;
const SMALLEST = -(2n ** 63n);

/** Adds two 64-bit integers. */
export class Sum extends SvcTool<Input, Output> {
  static override fqn() {
    return "xyz.demo.sum@1";
  }

  static override description() {
    return "Adds two integers.";
  }

  static override path() {
    return "sum";
  }

  override async invoke({ a, b, label, tags }: Input, { log }: InvokeContext): Promise<Output> {
    log.debug("adding");
    const sum = a + b;
    if (sum > LARGEST || sum < SMALLEST) return { err: { reason: "overflow" } };
    return { ok: { sum, label, tags } };
  }
}
