/** `svc-gen meta`: the metadata document of one tool with its public URL, for registration. */

import { parseFqn } from "svc-runtime/generator";
import { quoted } from "../diagnostics/quote.js";
import { withUrl } from "../emit/meta.js";
import { JsonObject, printJson, readJson } from "../json.js";
import { UsageError, unknownName } from "./arguments.js";

/**
 * Selects the document of `fqn`, or of the only tool, from the text of `meta.json`.
 *
 * @throws UsageError
 */
export function registrationDocument(metaJson: string, fqn: string | undefined, url: string): string {
  if (!/^https?:\/\/[^\s/?#]+/.test(url)) throw new UsageError(`--url wants an http or https URL, got ${quoted(url)}`);
  const all = readJson(metaJson);
  const documents = (Array.isArray(all) ? all : []).filter((each) => each instanceof JsonObject);
  const names = documents.map((each) => String(each.get("fqn")));
  const wanted = fqn === undefined ? undefined : (parseFqn(fqn)?.text ?? fqn);
  const [found, ...more] = documents.filter((each) => wanted === undefined || each.get("fqn") === wanted);
  if (found === undefined) throw unknownName("tool", wanted ?? "", names);
  if (more.length > 0) throw new UsageError(`several tools; name one with --fqn: ${names.join(", ")}`);
  return `${printJson(withUrl(found, url), 2)}\n`;
}
