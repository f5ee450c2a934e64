/** An error found before the server starts, such as one in a tool class or an option. */
export class StartupError extends Error {
  override readonly name = "StartupError";
}
