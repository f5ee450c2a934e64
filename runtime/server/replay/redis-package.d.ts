/**
 * Declares the part of svc-runtime-redis that a server loads. `paths` in tsconfig.json refers to this file because the
 * package is built later.
 */

import type { ReplayStore } from "./store.js";

export function redisFromEnv(): ReplayStore;
