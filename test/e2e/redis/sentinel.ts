/** A primary with a replica and three Sentinels, which agree by two. */

import { until } from "../../runtime/tools.js";
import { RedisServer, type RedisServerOptions } from "./redis-server.js";

const NAME = "svc";

/** Milliseconds without an answer after which a Sentinel takes the primary for down. */
export const DOWN_AFTER_MS = 1_000;

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
      `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
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

  /** The server that most Sentinels take for the primary now. */
  async primary(): Promise<RedisServer | undefined> {
    const votes = await Promise.all(
      this.sentinels.map(async ({ client }) => {
        const [, port] = (await client.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)) as string[];
        return Number(port);
      }),
    );
    return this.servers.find(({ port }) => votes.filter((vote) => vote === port).length >= 2);
  }

  async end(): Promise<void> {
    await Promise.all([...this.sentinels, ...this.servers].map((server) => server.end()));
  }
}
