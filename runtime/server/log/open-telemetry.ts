import type { Logger } from "../../tool.js";

export type OpenTelemetry = typeof import("@opentelemetry/api");

/** Global symbol under which all copies of version 1 of the API keep the registered providers. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

/**
 * Loads the application's OpenTelemetry API, if the application has registered a provider.
 *
 * @param signal kind of provider that must be registered
 * @returns undefined if there is none
 */
export async function loadOpenTelemetry(signal: "trace" | "metrics", log: Logger): Promise<OpenTelemetry | undefined> {
  const registered = (globalThis as { [REGISTERED]?: Partial<Record<typeof signal, unknown>> })[REGISTERED];
  if (registered?.[signal] === undefined) return undefined;
  try {
    return await import("@opentelemetry/api");
  } catch (error) {
    const lost = signal === "trace" ? "traces" : "meter for tools";
    log.warn({ err: error }, `no ${lost}: svc-runtime cannot load @opentelemetry/api; install this package`);
    return undefined;
  }
}
