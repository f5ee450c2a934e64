/** svc-runtime-redis: a replay store in Redis or Valkey that several replicas share. */

export type { RedisClient } from "./connection.js";
export { type RedisReplayOptions, RedisReplayStore } from "./redis-replay-store.js";
export { redisFromEnv } from "./settings.js";
