/** State of a tool class that all its calls share, created once at start-up. */

import { parseFqn } from "svc-client/internal/fqn";
import type { Contract } from "svc-client/internal/wire/codec/contract";
import { EnvelopeReader } from "svc-client/internal/wire/envelope/envelope";
import { MAX_TIMEOUT_MS } from "svc-client/internal/wire/protocol";
import { contractOf } from "../../../contracts.js";
import { type Around, SvcTool, type SvcToolClass } from "../../../tool.js";
import { StartupError } from "../../errors/startup-error.js";
import { heapBytesOf } from "../../wire/heap-bytes.js";
import { InputDecoder } from "../../wire/input.js";
import { OutputEncoder } from "../../wire/output.js";

/** A tool that is ready to be called. */
export class ServedTool {
  readonly fqn: string;
  /** Path before `/invoke`: `""`, or a path such as `/a/b`. */
  readonly prefix: string;
  readonly timeoutMs: number;
  readonly contract: Contract;
  readonly envelope: EnvelopeReader;
  readonly input: InputDecoder;
  /** Maximum heap bytes of a decoded input, from its number of values and the length of its body. */
  readonly heapBytesOf: ReturnType<typeof heapBytesOf>;
  readonly output: OutputEncoder;
  /** Ports that contained an undeclared member, and `the input`. Each is logged once. */
  readonly undeclared = new Set<string>();
  /** Ports with a number that may have lost precision. Each is logged once. */
  readonly rounded = new Set<string>();
  /** The server's option. */
  around: Around | undefined;
  /** Whether results may refer to stored values (`DataRef`). */
  readonly refersToStored: boolean;

  /** @throws {@link StartupError} if the class cannot be served; the message tells how to fix it */
  constructor(readonly tool: SvcToolClass) {
    const facts = staticFacts(tool);
    const name = parseFqn(facts.fqn);
    if (name === undefined) {
      throw new StartupError(
        `fqn() ${JSON.stringify(facts.fqn)}: expected domain.name@version, such as xyz.demo.sum@1`,
      );
    }
    const contract = contractOf(name.text);
    if (contract === undefined) {
      throw new StartupError(
        `${name.text} has no contract: run svc-gen and start the generated entry point (src/generated/server.ts), or write\n` +
          `  import { provideContracts } from "svc-runtime/v1";\n` +
          `  import { contracts } from "./generated/contracts.js";\n` +
          "  provideContracts(contracts);\n" +
          "before bootstrap",
      );
    }
    if ((facts.description ?? contract.description).trim() === "") {
      throw new StartupError(`${name.text}: description() is blank: return a sentence that describes the tool`);
    }
    if (!Number.isInteger(facts.timeout) || facts.timeout < 1 || facts.timeout > MAX_TIMEOUT_MS) {
      throw new StartupError(
        `${name.text}: timeout(): expected an integer from 1 to ${MAX_TIMEOUT_MS} milliseconds, got ${facts.timeout}`,
      );
    }
    for (const fact of ["description", "path", "timeout"] as const) {
      if (facts[fact] !== undefined && facts[fact] !== contract[fact]) {
        throw new StartupError(
          `${name.text}: ${fact}() is ${JSON.stringify(facts[fact])}, but the generated contract has ${JSON.stringify(contract[fact])}: run svc-gen again`,
        );
      }
    }
    this.fqn = name.text;
    this.contract = contract;
    this.timeoutMs = contract.timeout;
    this.prefix = contract.path
      .split("/")
      .filter((segment) => segment !== "")
      .map((segment) => `/${segment}`)
      .join("");
    this.envelope = new EnvelopeReader(contract.input);
    this.refersToStored = contract.output.some(({ ports }) => ports.some(({ held }) => held));
    this.input = new InputDecoder(contract);
    this.heapBytesOf = heapBytesOf(contract);
    this.output = new OutputEncoder(contract);
  }

  /** Creates an instance. Returns a promise only if the class defines its own `new`. */
  construct(): SvcTool<unknown, unknown> | Promise<SvcTool<unknown, unknown>> {
    const { tool } = this;
    if (tool.new === SvcTool.new) return Reflect.construct(tool as never, []) as SvcTool<unknown, unknown>;
    return Promise.resolve(tool.new());
  }
}

function extendsNamed(given: object, name: string): boolean {
  const base: unknown = Object.getPrototypeOf(given);
  return typeof base === "function" && (base.name === name || extendsNamed(base, name));
}

/** Static metadata of a class, without a description from JSDoc, which is only in the contract. */
function staticFacts(tool: SvcToolClass) {
  const inherited = SvcTool as unknown as SvcToolClass;
  const given: unknown = tool;
  if (typeof given !== "function" || !(given.prototype instanceof SvcTool)) {
    const isOfOtherCopy = typeof given === "function" && extendsNamed(given, SvcTool.name);
    const got = isOfOtherCopy
      ? `${given.name}, which extends SvcTool of another copy of svc-runtime: install one copy (npm ls svc-runtime lists them)`
      : "another value";
    throw new StartupError(`bootstrap: expected classes that extend SvcTool, got ${got}`);
  }
  try {
    return {
      fqn: tool.fqn(),
      description: tool.description === inherited.description ? undefined : tool.description(),
      path: tool.path(),
      timeout: tool.timeout(),
    };
  } catch (error) {
    throw new StartupError(`a static method of a tool class threw an error: ${(error as Error)?.message}`);
  }
}

/**
 * Creates the served tools of one process.
 *
 * @throws {@link StartupError} if a class cannot be served, or two tools have the same FQN or path
 */
export function serveTools(classes: readonly SvcToolClass[]): ServedTool[] {
  if (classes.length === 0) throw new StartupError("bootstrap: expected at least one tool, got none");
  const tools = classes.map((tool) => new ServedTool(tool));
  const seen = new Map<string, string>();
  for (const { fqn, prefix } of tools) {
    if (seen.has(fqn)) throw new StartupError(`two tools have the name ${fqn}: change fqn() of one of them`);
    const other = seen.get(`path ${prefix}`);
    if (other !== undefined)
      throw new StartupError(
        `${other} and ${fqn} have the same path, ${JSON.stringify(prefix || "/")}: change path() of one of them`,
      );
    seen.set(fqn, fqn).set(`path ${prefix}`, fqn);
  }
  return tools;
}
