/** `svc-gen openapi`: prints an OpenAPI 3.1 document of all tools of the project. */

import { prettyJson } from "svc-runtime/internal/generator";
import { defineCommand, EXIT, PROJECT_OPTIONS, UsageError } from "../cli/command.js";
import { quotedUrl } from "../compile/diagnostics/quote.js";
import { openApiDocument } from "../openapi/document.js";
import { projectInfo } from "../openapi/project-info.js";
import { printJson } from "../text/json.js";
import { metaDocuments, metaJsonIn } from "../tools/meta-documents.js";
import { DEFAULT_SERVER } from "../tools/tool-addresses.js";
import { generateToRead } from "./generate.js";
import { HEADER_PREFIX, headerPrefixOf } from "./options/leader-options.js";
import { generateOptions } from "./options/project-options.js";

export const command = defineCommand({
  details: `Title and version are taken from package.json. svc-gen dev also serves the document at /openapi.json of its page.`,
  options: {
    url: { type: "string", value: "URL", summary: `URL of the server (default: ${DEFAULT_SERVER})` },
    ...HEADER_PREFIX,
    ...PROJECT_OPTIONS,
  },
  examples: [
    ["svc-gen openapi --url https://tools.example.org", "save the output as openapi.json"],
    ["svc-gen openapi --header-prefix X-Nexus-", "for a server that serves older leaders"],
  ],
  run: async (call) => {
    const url = serverUrl(call.values.url ?? DEFAULT_SERVER);
    const headerPrefix = headerPrefixOf(call.values["header-prefix"]);
    const generated = await generateToRead(call);
    if (generated === undefined) return EXIT.failure;
    const document = openApiDocument(metaDocuments(metaJsonIn(generated.files)), {
      ...projectInfo(generateOptions(call).root),
      url,
      headerPrefix,
      hints: new Map(generated.contracts?.map(({ fqn, hints = {} }) => [fqn, hints])),
    });
    call.print(`${prettyJson(printJson(document))}\n`);
    return EXIT.done;
  },
});

/** URL without trailing slashes, because paths begin with one. */
function serverUrl(text: string): string {
  if (/^https?:\/\/[^\s/?#]+[^\s?#]*$/.test(text)) return text.replace(/\/+$/, "");
  throw new UsageError(`--url expects an http or https URL without a query, got ${quotedUrl(text)}`);
}
