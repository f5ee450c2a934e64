/**
 * JSON Schemas of the configuration and the allow-list, for editors and other programs. The server's reader, in
 * svc-runtime, is stricter: it also rejects duplicate members, numbers such as `1.0` and invalid public keys.
 * `test/generator/config-schema.test.ts` compares the two.
 */

import { DEFAULT_INVOKE_MAX_BODY_BYTES, DEFAULT_REPLAY_CACHE_TTL_MS } from "svc-runtime/internal/generator";

type ConfigSchema = Readonly<Record<string, unknown>>;

const DIALECT = { $schema: "https://json-schema.org/draft/2020-12/schema" };
/** Rounded up from 2^64 − 1, which is not a double; validators would round it too. */
const MAX_U64 = 2 ** 64;
const U64 = { type: "integer", minimum: 0, maximum: MAX_U64 };
const PUBLIC_KEY = "^(0x)?[0-9a-fA-F]{64}$";
const BASE64 = "[A-Za-z0-9+/_-]";
const PRIVATE_KEY = `^[\\t-\\r ]*((0x)?(00)?[0-9a-fA-F]{64}|${BASE64}{43}=?|A[A-P]${BASE64}{42})[\\t-\\r ]*$`;

/** Schema of the file in `SVC_TOOLKIT_CONFIG_PATH`. */
export function configSchema(): ConfigSchema {
  return {
    ...DIALECT,
    title: "Configuration of a tool server",
    ...object({
      invoke_max_body_bytes: {
        description: "The largest body of a call, in bytes.",
        ...orNull(U64),
        default: Number(DEFAULT_INVOKE_MAX_BODY_BYTES),
      },
      signed_http: {
        description: "Signed requests. Without this section calls need no signature.",
        // While signatures are disabled, only the types of the other members are checked.
        if: { type: "object", properties: { mode: { const: "disabled" } }, required: ["mode"] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { $ref: "#/$defs/disabled" },
        else: { $ref: "#/$defs/required" },
      },
    }),
    $defs: { disabled: signedHttp("form"), required: signedHttp("values") },
  };
}

/** Schema of the file in `allowed_leaders_path`. */
export function allowListSchema(): ConfigSchema {
  return { ...DIALECT, title: "Allow-list of leaders", ...allowList("values") };
}

/** Whether to check only the types of members, or their values too. */
type Extent = "form" | "values";

function signedHttp(extent: Extent): ConfigSchema {
  const isSigned = extent === "values";
  const section = object({
    mode: {
      description: "Whether calls need a signature.",
      enum: isSigned ? ["required"] : ["disabled"],
      ...(isSigned && { default: "required" }),
    },
    allowed_leaders_path: {
      description:
        "The file of the allow-list, relative to the server's working directory. Read again when it changes.",
      ...orNull({ type: "string" }),
    },
    allowed_leaders: {
      description: "The allow-list itself. With it, allowed_leaders_path is ignored.",
      anyOf: [allowList(extent), { type: "null" }],
    },
    tools: {
      description: "An entry for every served tool, by its name.",
      type: "object",
      ...(isSigned && { minProperties: 1 }),
      additionalProperties: tool(extent),
    },
  });
  if (!isSigned) return orNull(section);
  const has = (name: string, type: string) => ({ properties: { [name]: { type } }, required: [name] });
  const named = { anyOf: [has("allowed_leaders", "object"), has("allowed_leaders_path", "string")] };
  return { anyOf: [{ type: "null" }, { ...section, required: ["tools"], ...named }] };
}

function tool(extent: Extent): ConfigSchema {
  const isSigned = extent === "values";
  return object({
    response_signing_key: {
      description:
        "The tool's private Ed25519 key: 32 bytes, or 33 with a leading zero, in hex, base64 or base64url. Without it results are not signed.",
      ...orNull({ type: "string", ...(isSigned && { pattern: PRIVATE_KEY }) }),
    },
    replay_cache_ttl_ms: {
      description: "How long an answer is kept for retries, in milliseconds.",
      ...orNull({ ...U64, ...(isSigned && { minimum: 1 }) }),
      default: DEFAULT_REPLAY_CACHE_TTL_MS,
    },
  });
}

function allowList(extent: Extent): ConfigSchema {
  const isSigned = extent === "values";
  const key = object(
    {
      kid: { description: "The id of the key, as requests name it.", ...U64 },
      public_key: {
        description: "The leader's public Ed25519 key: 64 hex digits, with or without 0x.",
        type: "string",
        ...(isSigned && { pattern: PUBLIC_KEY }),
      },
    },
    ["kid", "public_key"],
  );
  const leader = object(
    {
      leader_id: { description: "The id of the leader, as requests name it.", type: "string" },
      keys: {
        description: "The leader's public keys; two while one of them is being replaced.",
        type: "array",
        items: key,
      },
    },
    ["leader_id", "keys"],
  );
  const version = isSigned ? { const: 1 } : { type: "integer", minimum: 0, maximum: 255 };
  return object(
    {
      version: { description: "The version of this format.", ...version },
      leaders: { description: "The leaders that may call.", type: "array", items: leader },
    },
    ["version", "leaders"],
  );
}

function object(properties: ConfigSchema, required: readonly string[] = []): ConfigSchema {
  return { type: "object", properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

/** Adds `null`, which means that the member is absent. */
function orNull({ type, ...others }: ConfigSchema): ConfigSchema {
  return { type: [type, "null"], ...others };
}
