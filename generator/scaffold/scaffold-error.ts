/** A project cannot be made as asked. */
export class ScaffoldError extends Error {
  /**
   * @param hint what to do
   * @param isUsage whether the command line is at fault, rather than what is on the disk
   */
  constructor(
    message: string,
    readonly hint: string,
    readonly isUsage = false,
  ) {
    super(message);
  }
}
