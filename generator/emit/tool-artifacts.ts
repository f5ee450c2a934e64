/** The generated texts of one tool. They depend on the tool alone, so they are reused until it changes. */

import { derivePorts } from "svc-runtime/generator";
import { type JsonObject, printJson } from "../json.js";
import type { ClassImport, Place, Tool } from "../model.js";
import { codec, inputPorts, outputVariants } from "./codecs.js";
import { localUrl, metadata } from "./meta.js";
import { renderContract } from "./render.js";
import type { Schemas } from "./schema.js";

/** Plain data that can be stored as JSON. */
export interface ToolArtifacts {
  readonly fqn: string;
  readonly path: string;
  readonly import: ClassImport;
  /** The place of the class's name. */
  readonly place: Place;
  /** The entry in `contracts.ts`. */
  readonly contract: string;
  /** The entry in `meta.json`. */
  readonly document: string;
}

/** Makes the texts of a tool without errors. */
export function artifactsOf(tool: Tool, schemas: Schemas): ToolArtifacts {
  const input = schemas.input(tool);
  const output = schemas.output(tool);
  for (const schema of [input, output]) schemas.judge.compile(schema);
  return {
    fqn: tool.fqn,
    path: tool.path,
    import: tool.import,
    place: tool.place,
    contract: contractOf(tool, input, output),
    document: printJson(metadata(tool, localUrl(tool.path), input, output), 2, 1),
  };
}

function contractOf(tool: Tool, inputSchema: JsonObject, outputSchema: JsonObject): string {
  const input = inputPorts(tool);
  const output = outputVariants(tool);
  const [inputText, outputText] = [printJson(inputSchema), printJson(outputSchema)];
  const derived = JSON.stringify(derivePorts(inputText, outputText));
  const ports = (list: readonly { name: string; many: boolean }[]) => list.map(({ name, many }) => ({ name, many }));
  const declared = {
    inputPorts: ports(input),
    outputVariants: output.map((variant) => ({ name: variant.name, ports: ports(variant.ports) })),
  };
  if (derived !== JSON.stringify(declared)) throw new Error(`${tool.fqn}: the schemas do not say what the types say`);
  return renderContract({
    fqn: tool.fqn,
    description: tool.description,
    path: tool.path,
    timeout: tool.timeout,
    inputSchema: inputText,
    outputSchema: outputText,
    input,
    closedInput: tool.input.closed,
    output,
    definitions: tool.definitions.map(({ name, shape }) => [name, codec(shape)] as const),
  });
}
