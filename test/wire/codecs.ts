/** Codecs and contracts in short, for the tests of the wire. */

import type { Codec, Contract } from "#client/wire/codec/contract.js";

/** An object with these members, of which some are optional. */
export const object = (members: Readonly<Record<string, Codec>>, ...optional: string[]): Codec => ({
  kind: "object",
  members: Object.entries(members).map(([name, codec]) => ({
    name,
    codec,
    ...(optional.includes(name) && { optional: true }),
  })),
});

/** A contract of which only some parts matter. */
export const contractWith = (parts: Partial<Contract>): Contract => ({
  fqn: "xyz.demo.wire@1",
  description: "A tool.",
  path: "",
  timeout: 1000,
  inputSchema: '{"properties":{}}',
  outputSchema: "{}",
  input: [],
  output: [],
  ...parts,
});
