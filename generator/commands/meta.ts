/** `svc-gen meta`: prints the metadata document of one tool with its public URL, for registration. */

import { parseFqn, prettyJson } from "svc-runtime/internal/generator";
import { defineCommand, EXIT, PROJECT_OPTIONS, UsageError } from "../cli/command.js";
import { quotedUrl } from "../compile/diagnostics/quote.js";
import { JsonObject, printJson } from "../text/json.js";
import { generateToRead } from "./generate.js";
import { documentNamed } from "./options/project-tools.js";

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
    if (!/^https?:\/\/[^\s/?#]+/.test(url))
      throw new UsageError(`--url expects an http or https URL, got ${quotedUrl(url)}`);
    const generated = await generateToRead(call);
    if (generated === undefined) return EXIT.failure;
    const { members } = documentNamed("meta --fqn", fqn && (parseFqn(fqn)?.text ?? fqn), generated.files);
    call.print(`${prettyJson(printJson(new JsonObject(new Map(members).set("url", url))))}\n`);
    return EXIT.done;
  },
});
