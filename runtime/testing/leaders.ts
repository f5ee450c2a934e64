/** Leaders for tests: any name is an allow-listed leader, with a key derived from the name. */

import { type Leader, type PreparedLeader, prepareLeader } from "svc-client/internal/leader/request/request";
import { prepareSigningKey } from "svc-client/internal/wire/signature/ed25519";
import { sha256 } from "svc-client/internal/wire/signature/hash";
import { replaceConfig, ToolkitRuntimeConfig } from "../config/config.js";

/** A leader: a name, a name with a key id, or a leader with its own key, which requires your own configuration. */
export type LeaderChoice = string | { readonly id: string; readonly keyId?: bigint | number } | Leader;

/** Private key of tools in configurations that the test kit creates. */
const TOOL_KEY = sha256(Buffer.from("svc-runtime/testing tool"));

export class TestLeaders {
  readonly config: ToolkitRuntimeConfig;
  /** Allow-listed leaders by id and key id; undefined if the author's own configuration is used. */
  readonly #known: Map<string, PreparedLeader> | undefined;

  readonly #tools: readonly string[];

  /** @param given the author's own configuration */
  constructor(tools: readonly string[], signed: boolean, given: ToolkitRuntimeConfig | undefined) {
    this.#tools = tools;
    this.config = given ?? ToolkitRuntimeConfig.fromJsonStr(signed ? this.#text([]) : "{}");
    this.#known = given === undefined ? new Map() : undefined;
    // A server warns about an allow-list without keys.
    if (given === undefined && signed) this.leader("leader");
  }

  /**
   * Returns a leader with its key. The first use of a name adds it to the allow-list.
   *
   * @throws TypeError for a name without a key, if the author's configuration contains the allow-list
   */
  leader(choice: LeaderChoice): PreparedLeader {
    if (typeof choice !== "string" && "key" in choice) return prepareLeader(choice);
    const { id, keyId = 0 } = typeof choice === "string" ? { id: choice } : choice;
    if (this.#known === undefined) {
      throw new TypeError(
        "leader: expected { id, keyId, key } of a leader in the given configuration, got a name: the harness has no keys for it",
      );
    }
    const name = `${id} ${keyId}`;
    let leader = this.#known.get(name);
    if (leader === undefined) {
      const key = prepareSigningKey(sha256(Buffer.from(`svc-runtime/testing leader ${name}`)));
      leader = prepareLeader({ id, keyId, key });
      this.#known.set(name, leader);
      const text = this.#text([...this.#known.values()]);
      replaceConfig(this.config, Buffer.from(text), { title: "configuration" });
    }
    return leader;
  }

  #text(leaders: readonly PreparedLeader[]): string {
    const listed = new Map<string, string[]>();
    for (const { id, keyId, key } of leaders) {
      const keys = listed.get(id) ?? [];
      keys.push(`{"kid":${keyId},"public_key":"${Buffer.from(key.publicKey).toString("hex")}"}`);
      listed.set(id, keys);
    }
    const list = [...listed].map(([id, keys]) => `{"leader_id":${JSON.stringify(id)},"keys":[${keys}]}`);
    const tools = this.#tools.map(
      (fqn) => `${JSON.stringify(fqn)}:{"response_signing_key":"${TOOL_KEY.toString("hex")}"}`,
    );
    return `{"signed_http":{"allowed_leaders":{"version":1,"leaders":[${list}]},"tools":{${tools}}}}`;
  }
}
