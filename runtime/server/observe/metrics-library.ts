/** The library of metrics, which is an optional peer dependency: `@prometheus-io/client`, or its predecessor prom-client. */

import { isMissingModule } from "../errors/missing-module.js";

export const NO_METRICS =
  "expected the package @prometheus-io/client, or prom-client, got neither; npm install @prometheus-io/client (Node 20: prom-client)";

/** The names and types that prom-client and its successor, `@prometheus-io/client`, share. */
export type Prometheus = typeof import("prom-client");

/** Undefined if neither is installed. A bundler accepts a missing package only in a `try` with the `import`. */
export async function loadLibrary(): Promise<Prometheus | undefined> {
  try {
    return (await import("@prometheus-io/client")) as unknown as Prometheus;
  } catch (error) {
    if (!isMissingModule(error)) throw error;
  }
  try {
    return await import("prom-client");
  } catch (error) {
    if (!isMissingModule(error)) throw error;
  }
  return undefined;
}
