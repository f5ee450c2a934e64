/** The tools of a `meta.json`, as a development server serves them. */

import { secretPorts } from "../contract/schema-reader.js";
import { sampleOf } from "../openapi/sample.js";
import { JsonObject, printJson } from "../text/json.js";
import { fqnOf, metaDocuments, pathOf } from "../tools/meta-documents.js";
import { addressAt } from "../tools/tool-addresses.js";

export interface ServedDocument {
  readonly fqn: string;
  /** Path of the endpoints, without leading and trailing slashes. */
  readonly path: string;
  /** Address of the tool, without a trailing slash. */
  readonly url: string;
  readonly description: string;
  /** Input that fits the schema, as JSON text. */
  readonly sample: string;
  /** The sample without secrets, for which `svc-gen invoke` prompts. */
  readonly typed: string;
}

/** @param url address of the server */
export function servedDocuments(metaJson: string, url: string): ServedDocument[] {
  return metaDocuments(metaJson).map((document) => {
    const path = pathOf(document);
    const schema = document.get("input_schema");
    const sample = sampleOf(schema);
    const secrets = secretPorts(schema);
    const { members } = sample instanceof JsonObject ? sample : new JsonObject(new Map());
    const typed = new JsonObject(new Map([...members].filter(([name]) => !secrets.has(name))));
    return {
      fqn: fqnOf(document),
      path,
      url: addressAt(url, path),
      description: String(document.get("description")),
      sample: printJson(sample),
      typed: printJson(typed),
    };
  });
}
