/** A primary with a replica and three Sentinels, which agree by two. */

import { until } from "../../runtime/tools.js";
import { RedisServer, type RedisServerOptions } from "./redis-server.js";

const NAME = "svc";

export class Sentinels {
  private constructor(
    /** Data servers: the first is the first primary. */
    readonly servers: readonly RedisServer[],
    readonly sentinels: readonly RedisServer[],
  ) {}

  static async start(options: RedisServerOptions = {}): Promise<Sentinels> {
    const [primary, replica] = await Promise.all([RedisServer.start(options), RedisServer.start(options)]);
    await replica.replicate(primary.port);
    const lines = [
      "bind 127.0.0.1",
      `sentinel monitor ${NAME} 127.0.0.1 ${primary.port} 2`,
      `sentinel down-after-milliseconds ${NAME} 1000`,
      `sentinel failover-timeout ${NAME} 5000`,
    ];
    const sentinels = await Promise.all(
      Array.from({ length: 3 }, () => RedisServer.start({ lines, args: ["--sentinel"] })),
    );
    const group = new Sentinels([primary, replica], sentinels);
    await until(async () => {
      const known = await Promise.all(sentinels.map((sentinel) => sentinel.info("master0")));
      return known.every((text) => text?.endsWith("slaves=1,sentinels=3") === true);
    }, "Sentinels that know each other and the replica");
    return group;
  }

  /** Its address for `SVC_REPLAY_REDIS_URL`. */
  get url(): string {
    return `redis+sentinel://${this.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${NAME}`;
  }

  async end(): Promise<void> {
    await Promise.all([...this.sentinels, ...this.servers].map((server) => server.end()));
  }
}
