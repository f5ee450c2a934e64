/** `svc-gen meta`: the metadata document of one tool at the address where it is served, for registration. */

import { JsonObject, printJson, readJson } from "../json.js";
import { withUrl } from "../meta.js";
import { canonicalFqn } from "../parse.js";

/** The document of `fqn` (or of the only tool) out of the text of `meta.json`. */
export function registrationDocument(
  metaJson: string,
  fqn: string | undefined,
  url: string,
): { readonly text: string } | { readonly problem: string } {
  if (!/^https?:\/\/[^\s/?#]+/.test(url))
    return { problem: `--url wants an http or https URL, got ${JSON.stringify(url)}` };
  const all = readJson(metaJson);
  const documents = (Array.isArray(all) ? all : []).filter((each) => each instanceof JsonObject);
  const wanted = fqn === undefined ? undefined : (canonicalFqn(fqn) ?? fqn);
  const [found, ...more] = documents.filter((each) => wanted === undefined || each.get("fqn") === wanted);
  const names = documents.map((each) => each.get("fqn")).join(", ");
  if (found === undefined) return { problem: `no tool ${wanted ?? ""}; there are: ${names}` };
  if (more.length > 0) return { problem: `several tools; name one with --fqn: ${names}` };
  return { text: `${printJson(withUrl(found, url), 2)}\n` };
}
