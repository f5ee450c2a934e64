/** An error that is found before the server starts, such as in a tool class or an option. */
export class StartupError extends Error {
  override readonly name = "StartupError";
}
