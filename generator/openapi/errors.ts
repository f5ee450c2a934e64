/**
 * Error responses of an OpenAPI document (protocol.md section 7), from the table of error answers.
 */

import { DEFAULT_HEADER_PREFIX } from "svc-runtime/internal/generator";
import { callerAdvice, ERROR_ANSWERS } from "../text/error-answers.js";
import { type JsonObject, object, ordered } from "../text/json.js";
import { sentences } from "../text/sentences.js";

const CODES_BY_STATUS = new Map<number, string[]>();
for (const [code, { status }] of [...ERROR_ANSWERS].sort(([, a], [, b]) => a.status - b.status)) {
  CODES_BY_STATUS.set(status, [...(CODES_BY_STATUS.get(status) ?? []), code]);
}

/** Headers of error answers, by status: key in `components.headers`, and header name. */
const HEADERS: Readonly<Record<number, readonly [component: string, header: string]>> = {
  405: ["Allow", "Allow"],
  429: ["RetryAfter", "Retry-After"],
  503: ["RetryAfter", "Retry-After"],
};

/** Schemas of the error bodies, named by status: `Error400`. */
export function errorSchemas(): [name: string, schema: JsonObject][] {
  return [...CODES_BY_STATUS].map(([status, codes]) => [
    `Error${status}`,
    ordered({
      type: "object",
      properties: {
        error: { type: "string", enum: codes },
        details: { type: "string", description: "A human-readable explanation, absent for some errors." },
      },
      required: ["error"],
    }),
  ]);
}

/**
 * Responses, with the same names as the schemas.
 *
 * @param prefix prefix of the signature headers
 */
export function errorResponses(prefix: string): [name: string, response: JsonObject][] {
  return [...CODES_BY_STATUS].map(([status, codes]) => {
    const header = HEADERS[status];
    const response = ordered({
      description: codes.map(lineOf).join("\n"),
      headers: header !== undefined ? object([header[1], reference("headers", header[0])]) : undefined,
      content: {
        "application/json": {
          schema: reference("schemas", `Error${status}`),
          examples: object(...codes.map((code) => [code, exampleOf(code, prefix)] as const)),
        },
      },
    });
    return [`Error${status}`, response];
  });
}

/** Entries of `responses` for the given statuses. */
export function errorReferences(statuses: readonly number[]): [status: string, response: JsonObject][] {
  return statuses.map((status) => [`${status}`, reference("responses", `Error${status}`)]);
}

export function reference(kind: string, name: string): JsonObject {
  return ordered({ $ref: `#/components/${kind}/${name}` });
}

function lineOf(code: string): string {
  const answer = ERROR_ANSWERS.get(code);
  return `- \`${code}\`: ${answer === undefined ? "" : `${sentences(answer.meaning)} ${callerAdvice(answer)}`}`;
}

function exampleOf(code: string, prefix: string): JsonObject {
  const text = ERROR_ANSWERS.get(code)?.details?.replace(DEFAULT_HEADER_PREFIX, prefix);
  return ordered({ value: { error: code, details: text } });
}
