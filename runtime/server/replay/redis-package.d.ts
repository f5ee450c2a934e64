/**
 * Declares the part of svc-runtime-redis that a server loads. `paths` of tsconfig.json refers to it, because the
 * package is built later.
 */

import type { ReplayStore } from "./store.js";

export function redisFromEnv(): ReplayStore;
