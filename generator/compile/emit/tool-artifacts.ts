/** Generated texts of one tool, reused until the tool changes. */

import { type Contract, derivePorts, localUrl, metadataText, prettyJson } from "svc-runtime/internal/generator";
import { printJson } from "../../text/json.js";
import type { ClassImport, Place, Tool } from "../model.js";
import { codec, inputPorts, outputVariants } from "./codecs.js";
import { render } from "./render.js";
import type { Schemas } from "./schema.js";

/** Texts of one tool, as data that can be stored as JSON. */
export interface ToolArtifacts {
  readonly fqn: string;
  readonly path: string;
  readonly import: ClassImport;
  /** Position of the class's name. */
  readonly place: Place;
  readonly contract: Contract;
  /** Entry in `contracts.ts`. */
  readonly entry: string;
  /** Entry in `meta.json`, indented. */
  readonly document: string;
}

/** Generates the texts of a tool that has no errors. */
export function artifactsOf(tool: Tool, schemas: Schemas): ToolArtifacts {
  const contract = contractOf(tool, schemas);
  return {
    fqn: tool.fqn,
    path: tool.path,
    import: tool.import,
    place: tool.place,
    contract,
    entry: render("contract", { variables: [], hints: false, ...contract }).trimEnd(),
    document: prettyJson(metadataText(contract, localUrl(tool.path))),
  };
}

function contractOf(tool: Tool, schemas: Schemas): Contract {
  const input = inputPorts(tool);
  const output = outputVariants(tool);
  const inputSchema = printJson(schemas.input(tool));
  const outputSchema = printJson(schemas.output(tool));
  const derived = JSON.stringify(derivePorts(inputSchema, outputSchema));
  const ports = (list: readonly { name: string; many: boolean }[]) => list.map(({ name, many }) => ({ name, many }));
  const declared = {
    inputPorts: ports(input),
    outputVariants: output.map((variant) => ({ name: variant.name, ports: ports(variant.ports) })),
  };
  if (derived !== JSON.stringify(declared)) throw new Error(`${tool.fqn}: the schemas do not match the types`);
  return {
    fqn: tool.fqn,
    description: tool.description,
    path: tool.path,
    timeout: tool.timeout,
    inputSchema,
    outputSchema,
    input,
    closedInput: tool.input.closed !== false,
    ...(tool.variables.length > 0 && { variables: tool.variables }),
    ...(Object.keys(tool.hints).length > 0 && { hints: tool.hints }),
    output,
    definitions: tool.definitions.map(({ name, shape }) => [name, codec(shape)] as const),
  };
}
