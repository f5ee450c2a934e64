/** Tells the author of a tool that callers without signatures send members that its input does not declare. */

import { closest } from "../../config/nearest.js";
import type { Logger } from "../../tool.js";
import type { Contract } from "../../wire/contract.js";
import { undeclaredMembers } from "../../wire/undeclared.js";

/** Minimum number of milliseconds between two checks of a tool's inputs. */
const INTERVAL_MS = 1_000;
/** Size of the largest body that is checked. */
const MAX_BYTES = 65_536;
/** Maximum number of log lines for one tool in the life of a process. */
const MAX_LINES = 20;

/** The notices of one tool. Each place is logged once, with the nearest declared name and no text of the caller. */
export class UndeclaredNotice {
  readonly #said = new Set<string>();
  #next = 0;

  constructor(private readonly contract: Contract) {}

  look(body: Uint8Array, log: Logger): void {
    const now = performance.now();
    if (body.length > MAX_BYTES || this.#said.size >= MAX_LINES || now < this.#next) return;
    this.#next = now + INTERVAL_MS;
    for (const { at, name, declared } of undeclaredMembers(this.contract, body)) {
      const [nearest] = closest(name, declared);
      const line = JSON.stringify([at, nearest]);
      if (this.#said.has(line) || this.#said.size >= MAX_LINES) continue;
      this.#said.add(line);
      const message = "a caller sends a member that the input does not declare; it is ignored";
      log.warn({ at: at === "" ? "the input" : at, ...(nearest !== undefined && { nearest }) }, message);
    }
  }
}
