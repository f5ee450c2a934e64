/** svc-runtime-redis: replay state shared by several replicas in Redis or Valkey. */

export type { RedisClient } from "./connection.js";
export { type RedisReplayOptions, RedisReplayStore } from "./redis-replay-store.js";
export { redisFromEnv } from "./settings.js";
