/** The part of the optional package svc-runtime-redis that a server loads: `paths` of tsconfig.json, since it is built later. */

import type { ReplayStore } from "./store.js";

export function redisFromEnv(): ReplayStore;
