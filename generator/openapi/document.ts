/** Generates the OpenAPI 3.1 document of a server from the metadata of its tools. The output is deterministic. */

import { parseFqn, RESULT_CONTENT_TYPE, type ToolHints } from "svc-runtime/internal/generator";
import { SchemaJudge } from "../compile/emit/schema-judge.js";
import { type Json, JsonObject, object, ordered } from "../text/json.js";
import { effectsOf } from "../tools/hints.js";
import { fqnOf, pathOf } from "../tools/meta-documents.js";
import { errorReferences, errorResponses, errorSchemas, reference } from "./errors.js";
import { sampleOf } from "./sample.js";
import { SchemaComponents, SHARED_SCHEMAS } from "./schemas.js";
import {
  ENVELOPE_SCHEMAS,
  headerParameters,
  headerReferences,
  responseHeaders,
  resultHeaders,
  SIGNED_BODY,
} from "./signed-call.js";
import { invokeText, OVERVIEW } from "./texts.js";

export interface OpenApiOptions {
  /** Name of the project. */
  readonly title: string;
  readonly version: string;
  /** Address of the server, without a trailing slash; `/` for the server that serves the document. */
  readonly url: string;
  /** Prefix of the signature headers. */
  readonly headerPrefix: string;
  /** Hints by FQN. */
  readonly hints?: ReadonlyMap<string, ToolHints> | undefined;
  /** A note about this server, printed before the overview. */
  readonly note?: string;
}

/** Error statuses of every endpoint, and additional ones of `invoke`. */
const EVERYWHERE = [400, 404, 405, 408, 417, 431];
const OF_INVOKE = [401, 403, 409, 411, 413, 415, 422, 429, 500, 503, 504];

/** The tag of endpoints that do not belong to a tool. */
const SERVER_TAG = "server";

/**
 * Generates the document of all tools.
 *
 * @param documents the entries of a `meta.json`
 */
export function openApiDocument(documents: readonly JsonObject[], options: OpenApiOptions): JsonObject {
  const { title, version, url, headerPrefix, note, hints } = options;
  const schemas = new SchemaComponents();
  const judge = new SchemaJudge();
  const tools = documents.map((document) => toolOf(document, schemas, hints?.get(fqnOf(document)) ?? {}));
  return ordered({
    openapi: "3.1.0",
    info: { title, version, description: note === undefined ? OVERVIEW : `${note}\n\n${OVERVIEW}` },
    servers: [{ url }],
    security: [],
    tags: [
      ...tools.map(({ fqn, description }) => ordered({ name: fqn, description })),
      ordered({ name: SERVER_TAG, description: "The server as a whole." }),
    ],
    paths: object(...tools.flatMap((tool) => toolPaths(tool, judge, headerPrefix)), ...serverPaths(tools)),
    components: {
      schemas: object(...schemas.all, ...SHARED_SCHEMAS, ...ENVELOPE_SCHEMAS, ...errorSchemas()),
      responses: object(...errorResponses(headerPrefix)),
      parameters: object(...headerParameters(headerPrefix)),
      headers: object(...responseHeaders(headerPrefix)),
    },
  });
}

interface DocumentedTool {
  readonly fqn: string;
  readonly description: string;
  readonly timeout: number;
  readonly hints: ToolHints;
  /** `""`, or a path such as `/orders/quote`. */
  readonly path: string;
  /** The FQN as a prefix of identifiers: `shop.orders.quote.v1`. */
  readonly name: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  readonly input: string;
  readonly result: string;
}

function toolOf(document: JsonObject, schemas: SchemaComponents, hints: ToolHints): DocumentedTool {
  const fqn = fqnOf(document);
  const inputSchema = document.get("input_schema") as JsonObject;
  const outputSchema = document.get("output_schema") as JsonObject;
  const parsed = parseFqn(fqn);
  const name = parsed === undefined ? fqn : `${parsed.name}.v${parsed.version}`;
  const path = pathOf(document);
  return {
    fqn,
    description: String(document.get("description")),
    timeout: Number(document.get("timeout")),
    hints,
    path: path === "" ? "" : `/${path}`,
    name,
    inputSchema,
    outputSchema,
    ...schemas.addTool(name, inputSchema, outputSchema),
  };
}

function toolPaths(tool: DocumentedTool, judge: SchemaJudge, headerPrefix: string): [string, JsonObject][] {
  const { fqn, name, path } = tool;
  const operation: Operation = (id, summary, ...members) =>
    object(["tags", [fqn]], ["operationId", `${name}.${id}`], ["summary", summary], ...members);
  return [
    [`${path}/invoke`, ordered({ post: invokeOperation(tool, judge, headerPrefix, operation) })],
    [`${path}/health`, ordered({ get: operation("health", `Health of ${fqn}`, ["responses", toolHealth()]) })],
    [
      `${path}/meta`,
      ordered({
        get: operation(
          "meta",
          `Metadata of ${fqn}`,
          ["description", "The metadata of the tool, with its schemas and the URL of this request."],
          ["responses", answers(json("The metadata document.", reference("schemas", "ToolMetadata")), 500, 503)],
        ),
      }),
    ],
  ];
}

type Entry = readonly [name: string, value: Json];
type Operation = (id: string, summary: string, ...members: readonly Entry[]) => JsonObject;

function invokeOperation(tool: DocumentedTool, judge: SchemaJudge, prefix: string, operation: Operation): JsonObject {
  const { fqn, description, timeout, hints, inputSchema, outputSchema, input, result } = tool;
  const plainInput = object(
    ["schema", reference("schemas", input)],
    ...examples(judge, inputSchema, [["sample", sampleOf(inputSchema)]]),
  );
  const plainResult = object(
    ["schema", reference("schemas", result)],
    ...examples(judge, outputSchema, variantSamples(outputSchema)),
  );
  return operation(
    "invoke",
    [`Call ${fqn}`, ...effectsOf(hints)].join(", "),
    ...(Object.keys(hints).length > 0 ? [["x-svc-hints", object(...Object.entries(hints))] as const] : []),
    ["description", invokeText(description, timeout, inputSchema, outputSchema)],
    ["parameters", headerReferences()],
    [
      "requestBody",
      ordered({
        description: "Unsigned calls: the input. Signed calls: the envelope.",
        required: true,
        content: { "application/json": plainInput, "application/octet-stream": SIGNED_BODY },
      }),
    ],
    [
      "responses",
      answers(
        ordered({
          // BCS is not in `content`: generated clients accept all content types that they find there, and get BCS.
          description: `The result. JSON for an unsigned call, unless \`Accept\` prefers BCS or the server is configured for BCS. In JSON, a value in external storage is replaced by a reference. The result of a signed call is BCS (\`${RESULT_CONTENT_TYPE}\`): the tag of the variant, then its ports in schema order, as \`OffchainToolOutput\`.`,
          headers: resultHeaders(prefix),
          content: { "application/json": plainResult },
        }),
        ...OF_INVOKE,
      ),
    ],
  );
}

/** One sample per variant, in the JSON form of results. */
function variantSamples(outputSchema: JsonObject): [string, Json][] {
  return (outputSchema.get("oneOf") as readonly Json[]).map((variant) => {
    const sample = sampleOf(variant, outputSchema);
    return sample instanceof JsonObject ? [[...sample.members.keys()][0] ?? "", sample] : [String(sample), sample];
  });
}

/** The member `examples`, with the samples that are valid for the schema. */
function examples(judge: SchemaJudge, schema: JsonObject, samples: readonly (readonly [string, Json])[]) {
  const problem = judge.compile(schema);
  const fitting = samples.filter(([, value]) => problem(asNumbers(value)) === undefined);
  const entries = fitting.map(([name, value]): [string, Json] => [exampleName(name), ordered({ value })]);
  return entries.length === 0 ? [] : [["examples", object(...entries)] as const];
}

/** Replaces bigints by the nearest numbers, because the validator ignores bigints. */
function asNumbers(value: Json): Json {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(asNumbers);
  if (!(value instanceof JsonObject)) return value;
  return object(...[...value.members].map(([name, each]) => [name, asNumbers(each)] as const));
}

/** OpenAPI restricts the characters of component keys (section "Components Object"). */
function exampleName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._-]/g, "_");
}

function toolHealth(): JsonObject {
  const orNone = (status: string, description: string) =>
    [
      status,
      ordered({ description, content: { "application/json": { schema: reference("schemas", `Error${status}`) } } }),
    ] as const;
  return object(
    ["200", empty("The tool is healthy.")],
    ...errorReferences(EVERYWHERE),
    orNone(
      "500",
      "Without a body: `health()` or the constructor of the tool threw. With a body: an error of the server.",
    ),
    orNone(
      "503",
      "Without a body: the tool is unhealthy, or `health()` took too long. With a body: the server is stopping.",
    ),
    ["default", empty("Any other status returned by `health()`.")],
  );
}

function serverPaths(tools: readonly DocumentedTool[]): [string, JsonObject][] {
  const operation = (id: string, summary: string, responses: JsonObject, parameters: readonly Json[] = []) =>
    ordered({ get: { tags: [SERVER_TAG], operationId: `server.${id}`, summary, parameters, responses } });
  const details = reference("schemas", "ToolDetails");
  const lists = ordered({ type: "array", items: ordered({ oneOf: [TEXT, details] }) });
  const paths = json(
    "The paths, as returned by `path()` of each class; with `details`, an object for each tool.",
    lists,
  );
  const list: [string, JsonObject] = [
    "/tools",
    operation("tools", "List of all tools", answers(paths, 503), [DETAILS]),
  ];
  // A tool at the root has its own /health.
  if (tools.some(({ path }) => path === "")) return [list];
  return [
    list,
    ["/health", operation("health", "Health of the server", answers(empty("The server is running."), 503))],
  ];
}

const TEXT = ordered({ type: "string" });
const DETAILS = ordered({
  name: "details",
  in: "query",
  description: "Adds names, hints, sizes and limits.",
  allowEmptyValue: true,
  schema: TEXT,
});

const empty = (description: string) => ordered({ description });

function json(description: string, schema: JsonObject): JsonObject {
  return ordered({ description, content: { "application/json": { schema } } });
}

/** The member `responses`: success, then errors by status. */
function answers(success: JsonObject, ...statuses: readonly number[]): JsonObject {
  return object(["200", success], ...errorReferences([...EVERYWHERE, ...statuses].sort((a, b) => a - b)));
}
