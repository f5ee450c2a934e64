/** The command line is invalid: exit code 2. The message quotes the input, with escaped control characters. */
export class UsageError extends Error {}

/** The command failed for a reason that the user can fix: exit code 1. */
export class CommandError extends Error {
  /** @param hint what to do */
  constructor(
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}
