/** Tool classes on contracts written by hand. */

import type { Codec, Port, ToolHints, Variant } from "#client/wire/codec/contract.js";
import {
  type AuthContext,
  type InvokeContext,
  type OffchainToolOutput,
  type StatusCode,
  SvcTool,
  type SvcToolClass,
} from "#runtime/index.js";
import { type Contract, provideContracts } from "#runtime/v1.js";

/** What a tool of a test does; everything has a default that does nothing. */
export interface Behaviour {
  fqn?: string;
  path?: string;
  timeout?: number;
  input?: readonly Port[];
  output?: readonly Variant[];
  closedInput?: boolean;
  inputSchema?: string;
  hints?: ToolHints;
  construct?(): unknown;
  authorize?(auth: AuthContext, input?: Record<string, unknown>): void | Promise<void>;
  invoke?(input: Record<string, unknown>, context: InvokeContext): unknown;
  encodeOutput?(output: unknown): unknown;
  health?(): unknown;
}

/** How often each part of a tool was called. */
export interface Calls {
  constructed: number;
  authorized: number;
  invoked: number;
  /** The inputs that `invoke` got, in order. */
  readonly inputs: Record<string, unknown>[];
}

export interface CountingTool {
  readonly fqn: string;
  readonly class: SvcToolClass;
  readonly contract: Contract;
  readonly calls: Calls;
  /** `/path/invoke` */
  readonly target: string;
}

export const one = (name: string, codec: Codec = { kind: "json" }, optional = false): Port => ({
  name,
  many: false,
  ...(optional && { optional }),
  codec,
});
export const many = (name: string, codec: Codec = { kind: "json" }): Port => ({ name, many: true, codec });

/** One port `value` in, one port `value` out, both untyped. */
const ECHO_INPUT = [one("value")];
const ECHO_OUTPUT: Variant[] = [{ name: "ok", ports: [one("value")] }];

let serial = 0;

/** Makes a tool class, provides its contract and counts its calls. */
export function countingTool(behaviour: Behaviour = {}): CountingTool {
  const fqn = behaviour.fqn ?? `xyz.test.tool${++serial}@1`;
  const path = behaviour.path ?? "tool";
  const timeout = behaviour.timeout ?? 10_000;
  const description = "A tool of the tests.";
  const input = behaviour.input ?? ECHO_INPUT;
  const output = behaviour.output ?? ECHO_OUTPUT;
  const name = fqn.replace(/@0+/, "@");
  const contract: Contract = {
    fqn: name,
    description,
    path,
    timeout,
    inputSchema: behaviour.inputSchema ?? `{"type":"object","properties":${properties(input)}}`,
    outputSchema: `{"oneOf":[${output.map(variantSchema)}]}`,
    input,
    closedInput: behaviour.closedInput ?? false,
    output,
    ...(behaviour.hints && { hints: behaviour.hints }),
  };
  provideContracts([contract]);
  const calls: Calls = { constructed: 0, authorized: 0, invoked: 0, inputs: [] };
  const { construct, authorize, invoke, encodeOutput, health } = behaviour;
  class Tool extends SvcTool<Record<string, unknown>, unknown> {
    static override fqn = () => fqn;
    static override description = () => description;
    static override path = () => path;
    static override timeout = () => timeout;
    static override async new(): Promise<SvcTool<unknown, unknown>> {
      calls.constructed++;
      await construct?.();
      return new Tool() as SvcTool<unknown, unknown>;
    }
    override authorize(auth: AuthContext) {
      calls.authorized++;
      return authorize?.(auth) as undefined;
    }
    override invoke(input: Record<string, unknown>, context: InvokeContext) {
      calls.invoked++;
      calls.inputs.push(input);
      return invoke === undefined ? { ok: { value: input.value } } : invoke(input, context);
    }
    override health() {
      return (health === undefined ? super.health() : health()) as StatusCode;
    }
  }
  // The server reads the number of parameters.
  if (authorize !== undefined && authorize.length > 1) {
    const counted = (auth: AuthContext, input: Record<string, unknown>) => {
      calls.authorized++;
      return authorize(auth, input);
    };
    Object.assign(Tool.prototype, { authorize: counted });
  }
  if (encodeOutput !== undefined) Tool.prototype.encodeOutput = (output) => encodeOutput(output) as OffchainToolOutput;
  const prefix = path.split("/").filter(Boolean).join("/");
  return { fqn: name, class: Tool, contract, calls, target: `/${prefix === "" ? "" : `${prefix}/`}invoke` };
}

const variantSchema = ({ name, ports, text }: Variant) =>
  text
    ? JSON.stringify({ const: name })
    : `{"properties":{${JSON.stringify(name)}:{"properties":${properties(ports)}}}}`;

/** Text, because an object would put integer-like names first. */
function properties(ports: readonly Port[]): string {
  const members = ports.map(
    ({ name, many }) => `${JSON.stringify(name)}:${many ? '{"type":"array","items":{}}' : "{}"}`,
  );
  return `{${members}}`;
}
