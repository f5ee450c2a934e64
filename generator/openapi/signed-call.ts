/** Signed calls in an OpenAPI document (protocol.md sections 4 and 5): header parameters, body, response headers. */

import {
  DEFAULT_HEADER_PREFIX,
  MAX_INLINE_BYTES,
  MAX_INPUT_PORTS,
  MAX_VALUES,
  SIGNATURE_VERSION,
  SignatureHeaders,
} from "svc-runtime/internal/generator";
import { singleMember } from "../contract/schema-reader.js";
import { type JsonObject, object, ordered } from "../text/json.js";
import { reference } from "./errors.js";

const base64url = (bytes: number) => `^[A-Za-z0-9_-]{${Math.ceil((bytes * 4) / 3)}}$`;

const VERSION = `^${SIGNATURE_VERSION}$`;

/** Headers of a signed call. */
const HEADERS: readonly (readonly [header: keyof SignatureHeaders, description: string, pattern: string])[] = [
  ["version", "Version of the signature.", VERSION],
  ["leaderId", "The leader's ID in the server's allow-list.", "^[!-~]+$"],
  ["leaderKeyId", "The ID of the leader's key: a 64-bit integer in decimal digits.", "^[0-9]+$"],
  ["inputHash", "SHA-256 of the commitments to all inputs, base64url without padding.", base64url(32)],
  ["leaderSignature", "The leader's Ed25519 signature of the 32 bytes of the input hash, base64url.", base64url(64)],
  ["nonce", "32 random bytes that identify the call, base64url. A retry has the same nonce.", base64url(32)],
];

const DEFAULT_HEADERS = new SignatureHeaders();

/** Name of a header's component: the header without its prefix and hyphens. */
const componentName = (header: keyof SignatureHeaders) =>
  DEFAULT_HEADERS[header].slice(DEFAULT_HEADER_PREFIX.length).replaceAll("-", "");

/** `components.parameters`. */
export function headerParameters(prefix: string): [name: string, parameter: JsonObject][] {
  const names = new SignatureHeaders(prefix);
  return HEADERS.map(([header, description, pattern]) => [
    componentName(header),
    ordered({
      name: names[header],
      in: "header",
      description: `${description} A signed call has all six signature headers, an unsigned call has none.`,
      schema: { type: "string", pattern },
    }),
  ]);
}

/** The parameters of `invoke`. */
export function headerReferences(): JsonObject[] {
  return HEADERS.map(([header]) => reference("parameters", componentName(header)));
}

/** `components.headers`: headers of answers. */
export function responseHeaders(prefix: string): [name: string, header: JsonObject][] {
  const text = (description: string, pattern?: string) => ordered({ description, schema: { type: "string", pattern } });
  return [
    ["Allow", text("The allowed methods.")],
    [
      "RetryAfter",
      ordered({
        description: "Seconds after which the call may be repeated.",
        schema: { type: "integer", minimum: 1 },
      }),
    ],
    ["SignatureVersion", text(`The version of \`${new SignatureHeaders(prefix).toolSignature}\`.`, VERSION)],
    [
      "ToolSignature",
      text(
        "The tool's Ed25519 signature of a domain prefix, the leader's signature, the nonce and the hash of the result. Only for signed calls, if the tool has a signing key. Errors are never signed.",
        base64url(64),
      ),
    ],
    [
      "ReplayMemory",
      text(
        "The name of the server's replay memory, in every answer of a signed server. A retry sends `NAME;age=MS` in the same header: the name known at the first attempt, and the milliseconds since then.",
        base64url(16),
      ),
    ],
  ];
}

/** The member `headers` of a result. */
export function resultHeaders(prefix: string): JsonObject {
  const names = new SignatureHeaders(prefix);
  return ordered({
    [names.version]: reference("headers", "SignatureVersion"),
    [names.toolSignature]: reference("headers", "ToolSignature"),
    [names.replayMemory]: reference("headers", "ReplayMemory"),
  });
}

/**
 * Media type of a signed body. Servers ignore `Content-Type`; the type distinguishes the two kinds of bodies in the
 * document.
 */
export const SIGNED_BODY: JsonObject = ordered({
  schema: {
    type: "string",
    contentMediaType: "application/json",
    contentSchema: reference("schemas", "SignedEnvelope"),
    description:
      "Signed calls only: the bytes of the envelope. The leader signs a hash of the values, so no proxy may reformat the body.",
  },
});

export const ENVELOPE_SCHEMAS: readonly (readonly [name: string, schema: JsonObject])[] = [
  [
    "SignedEnvelope",
    ordered({
      type: "object",
      properties: {
        ports: {
          type: "array",
          items: {
            type: "object",
            properties: { port_name: { type: "string" }, value: { oneOf: [oneValue(), manyValues()] } },
            required: ["port_name", "value"],
            additionalProperties: false,
          },
          maxItems: MAX_INPUT_PORTS,
          description: "Each input port exactly once, in any order. An absent optional input is `null`.",
        },
      },
      required: ["ports"],
      additionalProperties: false,
      description: "The body of a signed call.",
    }),
  ],
  [
    "SignedItem",
    ordered({
      oneOf: [
        item("data", ["data", ordered({ description: "The value as JSON. Its canonical text is hashed." })]),
        item("data", [
          "bytes",
          ordered({
            type: "string",
            contentEncoding: "base64",
            description: "The JSON text of the value. These bytes are hashed.",
          }),
        ]),
      ],
      description: `One value. A leader sends \`bytes\` where the text is not canonical or over ${MAX_INLINE_BYTES.toLocaleString("en-US")} bytes long.`,
    }),
  ],
];

function oneValue(): JsonObject {
  return singleMember("one", reference("schemas", "SignedItem"));
}

function manyValues(): JsonObject {
  return singleMember(
    "many",
    ordered({ type: "array", items: reference("schemas", "SignedItem"), minItems: 1, maxItems: MAX_VALUES }),
  );
}

function item(kind: string, [name, schema]: readonly [string, JsonObject]): JsonObject {
  return ordered({
    type: "object",
    properties: object(["kind", ordered({ type: "string", const: kind })], [name, schema]),
    required: ["kind", name],
    additionalProperties: false,
  });
}
