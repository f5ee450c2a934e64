/** `svc-gen openapi`: prints an OpenAPI 3.1 document of all tools of the project. */

import { defineCommand, EXIT, PROJECT_OPTIONS, UsageError } from "../cli/command.js";
import { hasErrors } from "../compile/diagnostics/diagnostics.js";
import { quotedUrl } from "../compile/diagnostics/quote.js";
import { printJson } from "../json.js";
import { generateNow, reportDiagnostics } from "./generate.js";
import { HEADER_PREFIX, headerPrefixOf } from "./options/leader-options.js";
import { generateOptions } from "./options/project-options.js";
import { documentsOf } from "./options/project-tools.js";

/** Default address of a server. */
const DEFAULT_URL = "http://127.0.0.1:8080";

export const openApiCommand = defineCommand({
  name: "openapi",
  summary: "print an OpenAPI 3.1 document of all tools, with signed and unsigned calls and all errors",
  details: `Title and version are taken from package.json. svc-gen dev also serves the document at /openapi.json of its page, and at
/reference a page to read it and to call the tools. A server in production serves neither.`,
  options: {
    url: { type: "string", value: "URL", summary: `URL of the server (default: ${DEFAULT_URL})` },
    ...HEADER_PREFIX,
    ...PROJECT_OPTIONS,
  },
  examples: [
    ["svc-gen openapi --url https://tools.example.org", "save the output as openapi.json"],
    ["svc-gen openapi --header-prefix X-Nexus-", "for a server that serves older leaders"],
  ],
  run: async (call) => {
    const url = serverUrl(call.values.url ?? DEFAULT_URL);
    const headerPrefix = headerPrefixOf(call.values["header-prefix"]);
    const options = generateOptions(call);
    const { diagnostics, files } = await generateNow(options);
    reportDiagnostics(diagnostics, { ...call, quiet: true });
    if (hasErrors(diagnostics)) return EXIT.failure;
    const documents = documentsOf(files.find(({ path }) => path === "meta.json")?.text ?? "[]") ?? [];
    const { openApiDocument } = await import("../openapi/document.js");
    const { projectInfo } = await import("../openapi/project-info.js");
    const { prettyJson } = await import("svc-runtime/internal/generator");
    const document = openApiDocument(documents, { ...projectInfo(options.root), url, headerPrefix });
    call.print(`${prettyJson(printJson(document))}\n`);
    return EXIT.done;
  },
});

/** URL without trailing slashes, because paths begin with one. */
function serverUrl(text: string): string {
  if (/^https?:\/\/[^\s/?#]+[^\s?#]*$/.test(text)) return text.replace(/\/+$/, "");
  throw new UsageError(`--url expects an http or https URL without a query, got ${quotedUrl(text)}`);
}
