/** `svc-gen meta`: prints the metadata document of one tool with its public URL, for registration. */

import { parseFqn, prettyJson } from "svc-runtime/internal/generator";
import { unknownName } from "../cli/arguments.js";
import { defineCommand, EXIT, PROJECT_OPTIONS, UsageError } from "../cli/command.js";
import { quotedUrl } from "../compile/diagnostics/quote.js";
import { JsonObject, printJson } from "../text/json.js";
import { fqnOf, metaDocuments, metaJsonIn } from "../tools/meta-documents.js";
import { generateToRead } from "./generate.js";

export const command = defineCommand({
  options: {
    fqn: { type: "string", value: "FQN", summary: "the tool, if the project has several" },
    url: { type: "string", value: "URL", summary: "the URL under which the tool is served" },
    ...PROJECT_OPTIONS,
  },
  examples: [["svc-gen meta --url https://tools.example.org/sum", "the only tool of the project"]],
  run: async (call) => {
    const { fqn, url } = call.values;
    if (url === undefined) throw new UsageError("meta expects --url URL, under which the tool is served");
    const generated = await generateToRead(call);
    if (generated === undefined) return EXIT.failure;
    call.print(registrationDocument(metaDocuments(metaJsonIn(generated.files)), fqn, url));
    return EXIT.done;
  },
});

/**
 * Selects the document of `fqn`, or of the only tool.
 *
 * @throws UsageError
 */
function registrationDocument(documents: readonly JsonObject[], fqn: string | undefined, url: string): string {
  if (!/^https?:\/\/[^\s/?#]+/.test(url))
    throw new UsageError(`--url expects an http or https URL, got ${quotedUrl(url)}`);
  const names = documents.map(fqnOf);
  const wanted = fqn === undefined ? undefined : (parseFqn(fqn)?.text ?? fqn);
  const [found, ...more] = documents.filter((each) => wanted === undefined || each.get("fqn") === wanted);
  if (found === undefined) throw unknownName("tool", wanted ?? "", names);
  if (more.length > 0)
    throw new UsageError(`the project has several tools; choose one with --fqn: ${names.join(", ")}`);
  const document = new JsonObject(new Map(found.members).set("url", url));
  return `${prettyJson(printJson(document))}\n`;
}
