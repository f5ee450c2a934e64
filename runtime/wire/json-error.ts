/** A text that is not JSON, or that the protocol does not accept. */
export class JsonError extends Error {
  override readonly name = "JsonError";
  /**
   * @param reason a fixed text without any part of the input
   * @param offset of the byte where parsing stopped
   */
  constructor(
    readonly reason: string,
    readonly offset: number,
  ) {
    super(`${reason} at byte ${offset}`);
  }
}

/** A JSON text with more values than its reader accepts. The rest of the text was not read. */
export class TooManyValues extends Error {
  override readonly name = "TooManyValues";
}
