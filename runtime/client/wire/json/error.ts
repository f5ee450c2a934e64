import { asBuffer } from "../bytes.js";

/** A text that is not JSON, or that the protocol rejects. */
export class JsonError extends Error {
  override readonly name = "JsonError";
  /**
   * @param reason fixed text that contains no part of the input
   * @param offset byte where parsing stopped
   */
  constructor(
    readonly reason: string,
    readonly offset: number,
  ) {
    super(`${reason} at byte ${offset}`);
  }
}

/** A JSON text with more values than its reader accepts. */
export class TooManyValues extends Error {
  override readonly name = "TooManyValues";
}

/** Line and column of a byte offset, both from 1; columns count characters. */
export function lineColumn(bytes: Uint8Array, offset: number): { line: number; column: number } {
  const before = asBuffer(bytes).subarray(0, offset);
  let line = 1;
  let lineStart = 0;
  for (let at = before.indexOf(0x0a); at !== -1; at = before.indexOf(0x0a, at + 1)) {
    line++;
    lineStart = at + 1;
  }
  let column = 1;
  // Each character has exactly one byte that is not a UTF-8 continuation byte.
  for (let at = lineStart; at < before.length; at++) if (((before[at] as number) & 0xc0) !== 0x80) column++;
  return { line, column };
}
