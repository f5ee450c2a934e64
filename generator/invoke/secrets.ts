/** Values of `@secret` input ports, from the environment or from a prompt without echo. */

import { quote } from "svc-runtime/internal/generator";
import { JsonText, type PortShape } from "svc-runtime/leader";
import { unknownName } from "../cli/arguments.js";
import { type CliHost, CommandError, UsageError } from "../cli/command.js";
import { secretPorts } from "../contract/schema-reader.js";
import { readJson } from "../text/json.js";
import type { PortTexts } from "./port-texts.js";

export interface SecretSources extends Pick<CliHost, "env" | "ask"> {
  /** `PORT=VARIABLE`, as typed. */
  readonly given: readonly string[];
}

/**
 * Adds secrets to an input: those of `--secret` first, then prompts for each required secret that is missing. Messages
 * never contain the text after the equals sign, which may be a secret typed by mistake.
 *
 * @throws UsageError; CommandError if a secret is missing and there is no terminal
 */
export async function withSecrets(
  input: PortTexts,
  ports: readonly PortShape[],
  inputSchema: string,
  { given, env, ask }: SecretSources,
): Promise<PortTexts> {
  // Without a prototype, because a port may be called `constructor`.
  const whole: PortTexts = Object.assign(Object.create(null), input);
  const add = ({ name, many }: PortShape, secret: string) => {
    const text = new JsonText(quote(secret));
    whole[name] = many ? [text] : text;
  };
  const names = ports.map(({ name }) => name);
  for (const each of given) {
    const { name, secret } = readSecret(each, env);
    const port = ports.find((known) => known.name === name);
    if (port === undefined) throw unknownName("input port", name, names);
    if (whole[name] !== undefined)
      throw new UsageError(`the input already contains ${name}: remove it there, or omit --secret ${name}`);
    add(port, secret());
  }
  for (const port of requiredSecrets(ports, inputSchema)) {
    if (whole[port.name] !== undefined) continue;
    if (ask === undefined) {
      throw new CommandError(
        `the secret ${port.name} is missing from the input`,
        `pass --secret ${port.name}=VARIABLE to read it from the environment, or run in a terminal to be prompted`,
      );
    }
    add(port, await ask(`${port.name} (not shown): `, true));
  }
  return whole;
}

/**
 * Parses one `PORT=VARIABLE`.
 *
 * @returns the port, and a function that reads the variable
 * @throws UsageError without the text after the equals sign; the function throws it too
 */
export function readSecret(given: string, env: SecretSources["env"]) {
  const [name = "", variable = ""] = given.split(/=(.*)/s);
  if (!given.includes("=")) throw new UsageError("--secret expects PORT=VARIABLE, such as --secret apiKey=API_KEY");
  const secret = (): string => {
    const text = env[variable];
    if (text !== undefined) return text;
    // Another text may be the secret itself.
    throw new UsageError(
      /^[A-Z]{1,15}(?:_[A-Z0-9]{1,15})*$/.test(variable)
        ? `--secret ${name}: the environment variable ${variable} is not set: export it first`
        : `--secret ${name} expects the name of an environment variable that is set, such as API_KEY`,
    );
  };
  return { name, secret };
}

function requiredSecrets(ports: readonly PortShape[], inputSchema: string): PortShape[] {
  const secrets = secretPorts(readJson(inputSchema));
  return ports.filter(({ name }) => secrets.get(name) === true);
}
