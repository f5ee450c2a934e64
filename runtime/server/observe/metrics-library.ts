/** The library of metrics, which is an optional peer dependency: `@prometheus-io/client`, or its predecessor prom-client. */

export const NO_METRICS =
  "expected the package @prometheus-io/client, or prom-client, got neither; npm install @prometheus-io/client (Node 20: prom-client)";

/** The names and types that prom-client and its successor, `@prometheus-io/client`, share. */
export type Prometheus = typeof import("prom-client");

/** Undefined if neither can be loaded. A bundler accepts a missing package only in a `try` with the `import`. */
export async function loadLibrary(): Promise<Prometheus | undefined> {
  try {
    return (await import("@prometheus-io/client")) as unknown as Prometheus;
  } catch {
    // Each bundler replaces a missing package by another error.
  }
  try {
    return await import("prom-client");
  } catch {
    return undefined;
  }
}
