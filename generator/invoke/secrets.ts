/** Input ports that `@secret` marks: their values come from the environment or from a prompt without echo. */

import { quote } from "svc-runtime/internal/generator";
import { JsonText, type PortShape } from "svc-runtime/leader";
import { unknownName } from "../cli/arguments.js";
import { type CliHost, CommandError, UsageError } from "../cli/command.js";
import { dereferenced, keyword, listAt, namedSchemas } from "../contract/schema-reader.js";
import { type Json, JsonObject, readJson } from "../json.js";
import type { PortInput } from "./input.js";

/** Where the values of secrets come from. */
export interface SecretSources extends Pick<CliHost, "env" | "ask"> {
  /** `PORT=VARIABLE`, as typed. */
  readonly given: readonly string[];
}

/**
 * Adds secrets to an input: those of `--secret`, then one prompt for each required port that is a secret and missing.
 * No message has the text behind the equals sign, which may be a secret by mistake.
 *
 * @throws UsageError; CommandError for a missing secret without a terminal
 */
export async function withSecrets(
  input: PortInput,
  ports: readonly PortShape[],
  inputSchema: string,
  { given, env, ask }: SecretSources,
): Promise<PortInput> {
  const whole = { ...input };
  const add = ({ name, many }: PortShape, secret: string) => {
    const text = new JsonText(quote(secret));
    whole[name] = many ? [text] : text;
  };
  const names = ports.map(({ name }) => name);
  for (const each of given) {
    const { name, secret } = readSecret(each, env);
    const port = ports.find((known) => known.name === name);
    if (port === undefined) throw unknownName("input port", name, names);
    if (whole[name] !== undefined) throw new UsageError(`the input has ${name} already: leave it or --secret out`);
    add(port, secret());
  }
  for (const port of requiredSecrets(ports, inputSchema)) {
    if (whole[port.name] !== undefined) continue;
    if (ask === undefined) {
      throw new CommandError(
        `the input lacks the secret ${port.name}`,
        `--secret ${port.name}=VARIABLE takes it from the environment; a terminal asks for it`,
      );
    }
    add(port, await ask(`${port.name} (not shown): `, true));
  }
  return whole;
}

/**
 * Reads one `PORT=VARIABLE`.
 *
 * @returns the port, and a function that reads the variable
 * @throws UsageError, also by the function, without the text behind the equals sign
 */
export function readSecret(given: string, env: SecretSources["env"]) {
  const [name = "", variable = ""] = given.split(/=(.*)/s);
  if (!given.includes("=")) throw new UsageError("--secret wants PORT=VARIABLE, such as --secret apiKey=API_KEY");
  const secret = (): string => {
    const text = env[variable];
    if (text !== undefined) return text;
    throw new UsageError(`--secret ${name} wants the name of an environment variable, and there is none of that name`);
  };
  return { name, secret };
}

function requiredSecrets(ports: readonly PortShape[], inputSchema: string): PortShape[] {
  const secrets = secretPorts(inputSchema);
  return ports.filter(({ name }) => secrets.get(name) === true);
}

/** The ports that are secrets, and whether each is required. */
export function secretPorts(inputSchema: string): ReadonlyMap<string, boolean> {
  const schema = readJson(inputSchema);
  if (!(schema instanceof JsonObject)) return new Map();
  const isSecret = (given: Json | undefined, hops = 0): boolean => {
    if (given === undefined || hops > MAX_HOPS) return false;
    if (keyword(given, "writeOnly") === true || isSecret(keyword(given, "items"), hops + 1)) return true;
    const target = dereferenced(given, schema);
    return target !== given && isSecret(target, hops + 1);
  };
  const secrets = [...namedSchemas(schema, "properties")].filter(([, property]) => isSecret(property));
  return new Map(secrets.map(([name]) => [name, listAt(schema, "required").includes(name)]));
}

const MAX_HOPS = 16;
