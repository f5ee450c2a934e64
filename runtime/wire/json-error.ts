/** A text that is not JSON, or not JSON that the protocol accepts. */
export class JsonError extends Error {
  override readonly name = "JsonError";
  /**
   * @param reason a fixed text that holds nothing of the input
   * @param offset of the byte where reading stopped
   */
  constructor(
    readonly reason: string,
    readonly offset: number,
  ) {
    super(`${reason} at byte ${offset}`);
  }
}
