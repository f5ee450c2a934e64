/** The tools of a `meta.json`, as a development server serves them. */

import { JsonObject, printJson, readJson } from "../json.js";
import { sampleOf } from "../openapi/sample.js";

export interface ServedDocument {
  readonly fqn: string;
  /** Path of the endpoints, without leading and trailing slashes. */
  readonly path: string;
  /** Address of the tool, without a trailing slash. */
  readonly url: string;
  readonly description: string;
  /** Input that fits the schema, as JSON text. */
  readonly sample: string;
}

/** @param url address of the server */
export function servedDocuments(metaJson: string, url: string): ServedDocument[] {
  const all = readJson(metaJson);
  const documents = (Array.isArray(all) ? all : []).filter((each) => each instanceof JsonObject);
  return documents.map((document) => {
    const path = new URL(String(document.get("url"))).pathname.replace(/^\/|\/$/g, "");
    return {
      fqn: String(document.get("fqn")),
      path,
      url: path === "" ? url : `${url}/${path}`,
      description: String(document.get("description")),
      sample: printJson(sampleOf(document.get("input_schema"))),
    };
  });
}
