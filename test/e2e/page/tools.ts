/** The tools that the tests of the page serve: every kind of port, and every kind of outcome. */

export const EVERY_KIND = `
import { errEval, StatusCode, SvcTool } from "svc-runtime";

interface Place {
  /** Where it is. */
  street: string;
  floor?: number;
}
type Shape = { kind: "circle"; radius: number } | { kind: "square"; side: number; label?: string };
interface Tree { name: string; children: Tree[] }
interface Key {
  /** @secret */
  key: string;
}
interface Input {
  /** Exact, also beyond 2^53. @example 9007199254740993 */
  big: bigint;
  /** @minimum 0 @maximum 100 @example 12.5 */
  ratio: number;
  text: string;
  mode: "fast" | "careful";
  flag: boolean;
  when: Date;
  data: Uint8Array;
  /** 1 to 256 words. */
  tags: string[];
  place: Place;
  shape: Shape;
  tree: Tree;
  pair: [string, number];
  counts: Record<string, number>;
  anything: unknown;
  note?: string;
  labels?: string[];
  /** @secret */
  apiKey?: string;
  keys?: Record<string, Key>;
}
type Output = { ok: { big: bigint; when: Date; bytes: number; tags: string[]; text: string } } | { err: { reason: string } } | "nothing";

/** Has a port of every kind. */
export class Kinds extends SvcTool<Input, Output> {
  static override fqn() { return "xyz.page.kinds@1"; }
  static override description() { return "Takes a value of every kind."; }
  static override path() { return "kinds"; }
  override async invoke(input: Input): Promise<Output> {
    if (input.text === "nothing") return "nothing";
    if (input.text === "fail") return errEval("as asked");
    if (input.text === "echo key") return { ok: { ...input, bytes: 0, text: input.apiKey ?? "" } };
    if (input.text === "throw") throw new Error("thrown on purpose");
    return { ok: { big: input.big, when: input.when, bytes: input.data.length, tags: input.tags, text: input.text } };
  }
  override async health() { return StatusCode.OK; }
}
`;

export const SLOW = `
import { SvcTool, StatusCode } from "svc-runtime";
interface Input { ms: number }
export class Slow extends SvcTool<Input, { ok: { ran: number } }> {
  static runs = 0;
  static override fqn() { return "xyz.page.slow@1"; }
  static override description() { return "Answers after some milliseconds."; }
  static override path() { return "slow"; }
  override async invoke({ ms }: Input) {
    const ran = ++Slow.runs;
    await new Promise<void>((done) => setTimeout(done, ms));
    return { ok: { ran } };
  }
  override async health() { return StatusCode.SERVICE_UNAVAILABLE; }
}
declare function setTimeout(done: () => void, ms: number): unknown;
`;
