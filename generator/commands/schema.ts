/** `svc-gen schema`: prints the JSON Schema of a tool's input or output. */

import { prettyJson } from "svc-runtime/internal/generator";
import { defineCommand, EXIT, PROJECT_OPTIONS } from "../cli/command.js";
import { type Json, printJson } from "../text/json.js";
import { generateToRead } from "./generate.js";
import { documentNamed } from "./options/project-tools.js";

export const command = defineCommand({
  details: `TOOL is a tool of this project: its FQN, the last part of its name, or its path. If the project has only one tool, TOOL may
be omitted. The schema is the one in the metadata document, where a variant without ports is a string. In the JSON of a result
such a variant is an object, as in the output of svc-gen openapi.`,
  options: {
    output: {
      type: "boolean",
      summary: "print the schema of the output: a union of the variants (default: schema of the input)",
    },
    ...PROJECT_OPTIONS,
  },
  examples: [
    ["svc-gen schema", "the input of the only tool"],
    ["svc-gen schema quote --output", "the output of one of several tools"],
  ],
  run: async (call) => {
    const [name] = call.args;
    const generated = await generateToRead(call);
    if (generated === undefined) return EXIT.failure;
    const document = documentNamed("schema", name, generated.files);
    const schema = document.get(call.values.output ? "output_schema" : "input_schema") as Json;
    call.print(`${prettyJson(printJson(schema))}\n`);
    return EXIT.done;
  },
});
