/**
 * Raises the log level to `debug` in a running process. All threads and all loaded copies of the runtime share this
 * state.
 */

/** 1 while the level is raised. */
export type Verbosity = Int32Array<SharedArrayBuffer>;

const KEY = Symbol.for("svc-runtime.verbosity.v1");
const holder = globalThis as { [KEY]?: Verbosity };

export function verbosity(): Verbosity {
  holder[KEY] ??= new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  return holder[KEY];
}

/** Makes a thread share the state of the main thread. Call it before the thread creates a logger. */
export function shareVerbosity(shared: Verbosity): void {
  holder[KEY] = shared;
}
