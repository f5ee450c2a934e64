/** Failures of commands that their user can mend. */

/** The command line is invalid: exit code 2. The message quotes the input, control characters escaped. */
export class UsageError extends Error {}

/** The command failed for a reason that its user can mend: exit code 1. */
export class CommandError extends Error {
  /** @param hint what to do */
  constructor(
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}
