import { derivePorts, FAILURE_VARIANT, MAX_VALUES, withoutControls } from "svc-runtime/internal/generator";
import { type JsonObject, printJson } from "../text/json.js";

/** The overview, as `info.description`. */
export const OVERVIEW = `Each tool has \`GET …/health\`, \`GET …/meta\` and \`POST …/invoke\`. Paths match byte for byte, without a trailing slash.

## Signed and unsigned calls

The server's configuration selects one mode for all of its tools:

| configuration | \`invoke\` accepts |
|---|---|
| \`signed_http\` with \`"mode": "required"\` | signed calls: six headers, and the envelope as \`application/octet-stream\`. Any other call is answered with 401 \`auth_failed\` |
| none, or \`"mode": "disabled"\` | unsigned calls: the input as plain JSON. A web page may call only if its origin is allowed |

\`health\`, \`meta\` and \`tools\` are the same in both modes. Errors are always JSON.

The result of an unsigned call is JSON, unless \`Accept\` gives the content type of BCS at least the quality of JSON, or the
server is configured for BCS (\`SVC_UNSIGNED_RESULTS=bcs\`). A value in external storage is replaced by
\`{"kind":"walrus","blob_id":BASE64,"content_digest":BASE64}\`. To make signed calls, use the leader's client: a client generated
from this document does not hash and sign the values.

## Integers

Write integers without a decimal point and an exponent: JSON Schema takes \`1.0\` for an integer, but the server refuses it.

Members of \`format: int64\` or \`format: uint64\` are JSON numbers with all their digits; the same may apply to members of
\`type: integer\` without a format. JavaScript's \`JSON.parse\` rounds integers beyond ±(2^53 − 1), and the server cannot detect a rounded number. A
JavaScript client must read them from the text of the number (\`context.source\` in a reviver) or with a package such as
\`lossless-json\`, and write a \`bigint\` with \`JSON.rawJSON\` or that package.`;

/** The description of a tool's `invoke` operation. */
export function invokeText(description: string, timeout: number, input: JsonObject, output: JsonObject): string {
  const { inputPorts, outputVariants } = derivePorts(printJson(input), printJson(output));
  const listed = (ports: readonly { readonly name: string; readonly many: boolean }[]) =>
    ports.length === 0 ? "none" : ports.map(({ name, many }) => `${code(name)}${many ? " (many)" : ""}`).join(", ");
  const variants = outputVariants.map(({ name, ports }) => `- ${code(name)}: ${listed(ports)}`);
  return [
    description,
    `Time limit: ${timeout.toLocaleString("en-US")} ms.`,
    `Input ports, in this order: ${listed(inputPorts)}.`,
    `Variants of the result, with their ports:\n\n${variants.join("\n")}\n- ${code(FAILURE_VARIANT)}: \`reason\`, if the tool reports an error`,
    `A port marked *many* is a list of 1 to ${MAX_VALUES} values.`,
    "The server's configuration determines whether this call must be signed: see above.",
  ].join("\n\n");
}

/** Formats text as Markdown code, with a fence longer than any run of backticks in the text. */
function code(text: string): string {
  const runs = [...text.matchAll(/`+/g)].map(([run]) => run.length);
  const fence = "`".repeat(Math.max(0, ...runs) + 1);
  const space = runs.length > 0 ? " " : "";
  // A line break would end the list item.
  return `${fence}${space}${withoutControls(text)}${space}${fence}`;
}
