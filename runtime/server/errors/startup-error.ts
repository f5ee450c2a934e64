/** A fault of the tools themselves, found before anything is served. */
export class StartupError extends Error {
  override readonly name = "StartupError";
}
