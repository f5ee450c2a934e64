import { INPUT_BUDGET } from "svc-runtime/internal/storage";
import { requireInteger, StorageError } from "./storage-error.js";

/** Maximum size of the resolved values of a call, in bytes (protocol.md section 1). */
export const MAX_BUDGET_BYTES = INPUT_BUDGET;

/** Byte budget, which reads can share. */
export class ByteBudget {
  #left: number;

  /**
   * @param bytes 1 to 8 MiB, 8 MiB by default
   * @throws {@link StorageError} `invalid_option`
   */
  constructor(readonly bytes: number = MAX_BUDGET_BYTES) {
    this.#left = requireInteger("budget", bytes, 1, MAX_BUDGET_BYTES);
  }

  get left(): number {
    return this.#left;
  }

  /** @throws {@link StorageError} `over_budget`; the budget is unchanged then */
  take(bytes: number): void {
    if (bytes > this.#left) {
      const left = this.#left === this.bytes ? "" : `, of which ${this.#left} are left`;
      throw new StorageError("over_budget", `values: expected at most ${this.bytes} bytes over all ports${left}`);
    }
    this.#left -= bytes;
  }
}
