/** `svc-gen config schema`: prints the JSON Schema of the configuration or the allow-list. */

import { asJson, defineCommand, EXIT } from "../../cli/command.js";

/** Text about editors. The schemas cannot be referenced in the file, because the server rejects a member `$schema`. */
export const EDITORS = `Tell your editor which files a schema applies to; a server refuses a $schema member. For VS Code, in .vscode/settings.json:

  "json.schemas": [
    { "fileMatch": ["/config.json"], "url": "./config.schema.json" },
    { "fileMatch": ["/leaders.json"], "url": "./leaders.schema.json" }
  ]`;

export const configSchemaCommand = defineCommand({
  name: "config schema",
  summary: "print the JSON Schema (2020-12) of the configuration, or of the allow-list",
  details: EDITORS,
  options: {
    "allow-list": {
      type: "boolean",
      summary: "print the schema of an allow-list in its own file (allowed_leaders_path)",
    },
  },
  examples: [
    ["svc-gen config schema", "save the output as config.schema.json"],
    ["svc-gen config schema --allow-list", "save the output as leaders.schema.json"],
  ],
  run: async ({ values, print }) => {
    const { allowListSchema, configSchema } = await import("../../config/schemas.js");
    print(asJson(values["allow-list"] ? allowListSchema() : configSchema()));
    return EXIT.done;
  },
});
