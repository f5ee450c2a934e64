/** A file of receipts, one in each line, that survives a crash of the process or the machine. */

import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import type { LeaderOptions } from "svc-runtime/leader";

/**
 * Opens the file for appending.
 *
 * @returns the function for the option `receipts`: it throws if a receipt cannot be stored, and then the call fails
 */
export function receiptFile(path: string): NonNullable<LeaderOptions["receipts"]> {
  const file = openSync(path, "a+");
  process.once("exit", () => closeSync(file));
  // A process that was killed may have left a part of a line. Its call is repeated, so its receipt comes again.
  const { size } = fstatSync(file);
  const last = Buffer.alloc(1);
  if (size > 0) readSync(file, last, 0, 1, size - 1);
  if (size > 0 && last.toString() !== "\n") writeSync(file, "\n");
  return (receipt) => {
    writeSync(file, `${JSON.stringify(receipt)}\n`);
    fsyncSync(file);
  };
}
