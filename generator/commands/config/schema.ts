/** `svc-gen config schema`: prints the JSON Schema of the configuration or the allow-list. */

import { asJson, defineCommand, EXIT } from "../../cli/command.js";

/** Text about editors. The schemas cannot be referenced in the file, because the server rejects a member `$schema`. */
export const EDITORS = `The configuration has no $schema member: a server refuses members that it does not know. Tell your editor which file
a schema is for. For VS Code, in .vscode/settings.json:

  "json.schemas": [
    { "fileMatch": ["/config.json"], "url": "./config.schema.json" },
    { "fileMatch": ["/leaders.json"], "url": "./leaders.schema.json" }
  ]`;

export const configSchemaCommand = defineCommand({
  name: "config schema",
  summary: "the JSON Schema (2020-12) of the configuration, or of the allow-list",
  details: EDITORS,
  options: { "allow-list": { type: "boolean", summary: "of the file that allowed_leaders_path names" } },
  examples: [
    ["svc-gen config schema", "into config.schema.json, for your editor"],
    ["svc-gen config schema --allow-list", "of an allow-list in a file of its own"],
  ],
  run: async ({ values, print }) => {
    const { allowListSchema, configSchema } = await import("../../config/schemas.js");
    print(asJson(values["allow-list"] ? allowListSchema() : configSchema()));
    return EXIT.done;
  },
});
