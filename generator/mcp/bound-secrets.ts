/** Secrets of the command line. Each belongs to one port of one tool, at the address of the tool when the bridge starts. */

import { UsageError } from "../cli/command.js";
import type { BridgedTool } from "./bridged-tool.js";

export interface GivenSecret {
  /** `PORT`, or `FQN.PORT`. */
  readonly name: string;
  readonly text: string;
}

export class BoundSecrets {
  /** Secrets by port, by the identity of their tool. */
  readonly #bound = new Map<string, Map<string, string>>();

  /** @throws UsageError for a name that no tool has, or a port that several tools have */
  constructor(given: readonly GivenSecret[], tools: readonly BridgedTool[]) {
    for (const { name, text } of given) {
      const [, fqn, port = name] = /^([^@]+@\d+)\.(.+)$/s.exec(name) ?? [];
      const owners = tools.filter((tool) => tool.secrets.has(port) && (fqn === undefined || tool.fqn === fqn));
      const [owner, ...others] = owners;
      if (owner === undefined) throw new UsageError(`--secret ${name}: no tool has a secret input port of this name`);
      if (others.length > 0) {
        const names = owners.map((each) => `${each.fqn}.${port}`).join(", ");
        throw new UsageError(`--secret ${name}: several tools have this secret input port; name one of: ${names}`);
      }
      const own = this.#bound.get(identityOf(owner)) ?? new Map<string, string>();
      this.#bound.set(identityOf(owner), own.set(port, text));
    }
  }

  /** Secrets of a tool by port. A tool that appears later, or at another address, has none. */
  of(tool: BridgedTool): ReadonlyMap<string, string> {
    return this.#bound.get(identityOf(tool)) ?? new Map();
  }
}

function identityOf({ url, fqn }: BridgedTool): string {
  return `${fqn} ${url}`;
}
