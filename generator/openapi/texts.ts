/** Texts of an OpenAPI document, in Markdown. */

import { derivePorts, MAX_VALUES, withoutControls } from "svc-runtime/internal/generator";
import { type JsonObject, printJson } from "../json.js";

/** What a reader of the whole document has to know. */
export const OVERVIEW = `Each tool has \`GET …/health\`, \`GET …/meta\` and \`POST …/invoke\`. Paths match byte for byte, without a trailing slash.

## Signed and unsigned calls

The configuration of the server decides for all of its tools, and \`invoke\` takes one form only:

| configuration | \`invoke\` takes |
|---|---|
| \`signed_http\` with \`"mode": "required"\` | signed calls: six headers, and the envelope as \`application/octet-stream\`. Every other call is 401 \`auth_failed\` |
| none, or \`"mode": "disabled"\` | unsigned calls: the input as plain JSON. A web page may call only if its origin is allowed |

\`health\`, \`meta\` and \`tools\` are the same in both. Errors are JSON in both.

An unsigned call gets its result as JSON, unless \`Accept\` names the content type of BCS with at least the quality of JSON, or the
server is set to BCS (\`SVC_UNSIGNED_RESULTS=bcs\`). A value that is stored elsewhere is
\`{"kind":"walrus","blob_id":BASE64,"content_digest":BASE64}\` in the place of its content. Programs make signed calls with the leader's client, not with a client
that is generated from this document: they have to hash and sign the values.

## 64-bit integers

Members of \`format: int64\` or \`format: uint64\` are JSON numbers with all their digits; so may be those of \`type: integer\`
without a format. JavaScript's \`JSON.parse\` rounds integers beyond ±(2^53 − 1), and a rounded number is not refused: it is
another valid input. A JavaScript client has to read them with the text of the number (\`context.source\` in a reviver) or with a
package such as \`lossless-json\`, and to write a \`bigint\` with \`JSON.rawJSON\` or that package.`;

/** What a caller of one tool has to know. */
export function invokeText(description: string, timeout: number, input: JsonObject, output: JsonObject): string {
  const { inputPorts, outputVariants } = derivePorts(printJson(input), printJson(output));
  const listed = (ports: readonly { readonly name: string; readonly many: boolean }[]) =>
    ports.length === 0 ? "none" : ports.map(({ name, many }) => `${code(name)}${many ? " (many)" : ""}`).join(", ");
  const variants = outputVariants.map(({ name, ports }) => `- ${code(name)}: ${listed(ports)}`);
  return [
    description,
    `Time limit: ${timeout.toLocaleString("en-US")} ms.`,
    `Input ports, in this order: ${listed(inputPorts)}.`,
    `Variants of the result, with their ports:\n\n${variants.join("\n")}\n- \`_err_eval\`: \`reason\`, for a tool that cannot answer`,
    `A port marked *many* is a list of 1 to ${MAX_VALUES} values.`,
    "The configuration of the server decides whether this call is signed or not: see above.",
  ].join("\n\n");
}

/** Text as code in Markdown: the fence is longer than any run of backticks in it. */
function code(text: string): string {
  const runs = [...text.matchAll(/`+/g)].map(([run]) => run.length);
  const fence = "`".repeat(Math.max(0, ...runs) + 1);
  const space = runs.length > 0 ? " " : "";
  // A line break would end the list.
  return `${fence}${space}${withoutControls(text)}${space}${fence}`;
}
