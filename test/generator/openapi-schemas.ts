import { Ajv2020 } from "ajv/dist/2020.js";

interface Document {
  readonly components: object;
}

const compilers = new WeakMap<Document, Ajv2020>();

/** Compiles a schema within its OpenAPI document. */
export function compileIn(document: Document, schema: object) {
  const known = compilers.get(document);
  const ajv = known ?? new Ajv2020({ strict: false, validateFormats: false });
  if (known === undefined) ajv.addSchema({ $id: "doc:", components: document.components });
  compilers.set(document, ajv);
  return ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"doc:#/')));
}
