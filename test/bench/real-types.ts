/** A project whose tools take and return types of well-known libraries, at pinned versions: half take a type, half return it. */

import { spawnSync } from "node:child_process";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { STRICT, ToolProject } from "../generator/project.js";
import { REPOSITORY } from "../repository.js";

/** Packages, the lines before a tool that uses them, and the types. */
const LIBRARIES: readonly (readonly [packages: readonly string[], before: string, types: readonly string[]])[] = [
  [
    ["zod@4.6.7"],
    `import * as z from "zod";
const order = z.object({ id: z.string(), lines: z.array(z.object({ sku: z.string(), amount: z.number().int(), note: z.string().optional() })), kind: z.enum(["small", "big"]) });
const event = z.discriminatedUnion("type", [z.object({ type: z.literal("made"), order }), z.object({ type: z.literal("sent"), by: z.string().nullish() })]);`,
    ["z.infer<typeof order>", "z.infer<typeof event>", "z.input<typeof event>"],
  ],
  [
    ["drizzle-orm@0.45.4"],
    `import { boolean, integer, jsonb, pgTable, text, varchar } from "drizzle-orm/pg-core";
const users = pgTable("users", { id: integer().primaryKey(), name: text().notNull(), email: varchar({ length: 256 }), active: boolean().default(true), tags: jsonb().$type<{ a: string; b: number }>() });`,
    ["typeof users.$inferSelect", "typeof users.$inferInsert"],
  ],
  [
    ["stripe@23.1.0"],
    'import type Stripe from "stripe";',
    [
      ..."CustomerCreateParams PaymentIntentCreateParams Address RefundCreateParams PaymentMethodCreateParams".split(
        " ",
      ),
      ..."Price.Recurring Charge.BillingDetails Charge.Outcome InvoiceCreateParams".split(" "),
    ].map((name) => `Stripe.${name}`),
  ],
  [
    ["@octokit/openapi-types@29.0.1", "@octokit/types@18.0.0"],
    'import type { components } from "@octokit/openapi-types";\nimport type { Endpoints } from "@octokit/types";',
    [
      ...["repository", "issue", "simple-user", "pull-request", "commit", "license"].map(
        (name) => `components["schemas"]["${name}"]`,
      ),
      ...["GET /repos/{owner}/{repo}", "GET /repos/{owner}/{repo}/issues", "GET /user"].map(
        (name) => `Endpoints["${name}"]["response"]["data"]`,
      ),
    ],
  ],
  [
    ["@aws-sdk/client-s3@3.1175.0", "@aws-sdk/client-dynamodb@3.1169.0"],
    'import type * as ddb from "@aws-sdk/client-dynamodb";\nimport type * as s3 from "@aws-sdk/client-s3";',
    [
      ..."CopyObjectCommandInput ListObjectsV2CommandOutput LifecycleRule".split(" ").map((name) => `s3.${name}`),
      ..."TableDescription CreateTableCommandInput AttributeValue".split(" ").map((name) => `ddb.${name}`),
    ],
  ],
  [
    ["viem@2.57.20"],
    'import type * as viem from "viem";',
    "AbiFunction Log Block Address Transaction TransactionReceipt Abi".split(" ").map((name) => `viem.${name}`),
  ],
  [
    ["@mysten/sui@1.45.2"],
    'import type * as sui from "@mysten/sui/client";',
    "SuiObjectResponse SuiTransactionBlockResponse CoinStruct SuiEvent".split(" ").map((name) => `sui.${name}`),
  ],
  [
    ["effect@4.1.0"],
    `import { Schema } from "effect";
const person = Schema.Struct({ name: Schema.String, age: Schema.Number, tags: Schema.Array(Schema.String) });`,
    ["typeof person.Type", "typeof person.Encoded"],
  ],
  [
    ["kysely@0.28.19"],
    `import type { ColumnType, Generated, Selectable, Updateable } from "kysely";
interface Person { id: Generated<number>; name: string; gender: "m" | "w"; at: ColumnType<string, string | undefined, never> }`,
    ["Selectable<Person>", "Updateable<Person>"],
  ],
  [
    ["@anthropic-ai/sdk@1.14.0", "openai@6.49.0"],
    'import type Anthropic from "@anthropic-ai/sdk";\nimport type OpenAI from "openai";',
    ["Anthropic.MessageCreateParamsNonStreaming", "Anthropic.Message", "OpenAI.ChatCompletion"],
  ],
  [
    ["@slack/types@3.2.0", "discord-api-types@0.38.57"],
    'import type { APIEmbed, APIGuildMember } from "discord-api-types/v10";\nimport type { KnownBlock } from "@slack/types";',
    ["KnownBlock", "APIEmbed", "APIGuildMember"],
  ],
  [
    ["csstype@3.2.4", "@types/json-schema@7.0.15", "@types/geojson@7946.0.16"],
    `import type { Properties } from "csstype";
import type { FeatureCollection } from "geojson";
import type { JSONSchema7 } from "json-schema";`,
    ["Properties", "FeatureCollection", "JSONSchema7"],
  ],
  [
    ["valibot@1.5.0", "@sinclair/typebox@0.34.52", "io-ts@2.2.22", "fp-ts@2.16.11"],
    `import { type Static, Type } from "@sinclair/typebox";
import * as t from "io-ts";
import * as v from "valibot";
const box = Type.Object({ x: Type.Number(), y: Type.Optional(Type.String()) });
const codec = t.intersection([t.type({ a: t.string, b: t.number }), t.partial({ c: t.boolean })]);
const user = v.object({ name: v.string(), age: v.optional(v.number()), kind: v.picklist(["a", "b"]) });`,
    ["v.InferOutput<typeof user>", "Static<typeof box>", "t.TypeOf<typeof codec>"],
  ],
  [
    ["type-fest@5.10.0", "json-schema-to-ts@3.1.1"],
    `import type { FromSchema } from "json-schema-to-ts";
import type { CamelCasedPropertiesDeep, PartialDeep, SetOptional } from "type-fest";
interface Foo { a_b: number; c_d?: { e_f: string; g_h: boolean }; i: "x" | "y" }
const dog = { type: "object", properties: { name: { type: "string" }, hobbies: { type: "array", items: { type: "string" } } }, required: ["name"], additionalProperties: false } as const;`,
    ['SetOptional<Foo, "a_b">', "CamelCasedPropertiesDeep<Foo>", "PartialDeep<Foo>", "FromSchema<typeof dog>"],
  ],
];

/** @throws Error if the packages cannot be installed */
export function realTypesProject(files: Readonly<Record<string, string>>): ToolProject {
  const used = LIBRARIES.flatMap(([, before, types]) => types.map((type) => ({ before, type })));
  const sources = used.flatMap(({ before, type }, at) => [
    tool(2 * at, before, `{ value: ${type} }`, "{ ok: { id: string } }"),
    tool(2 * at + 1, before, "{ id: string }", `{ ok: { value: ${type} } } | { err: { reason: string } }`),
  ]);
  const tools = Object.fromEntries(sources.map((source, at) => [`src/tool${at}.ts`, source]));
  const project = new ToolProject({ ...files, ...tools }, { ...STRICT, types: ["node"], lib: ["ES2023", "DOM"] });
  // npm would replace the links of the other packages.
  const modules = join(project.root, "node_modules");
  rmSync(modules, { recursive: true });
  const packages = [...LIBRARIES.flatMap(([names]) => names), "@types/node@24.10.1"];
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", ...packages];
  const { status, stderr } = spawnSync("npm", args, { cwd: project.root, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm install: ${stderr}`);
  symlinkSync(join(REPOSITORY, "runtime"), join(modules, "svc-runtime"));
  return project;
}

function tool(at: number, before: string, input: string, output: string): string {
  return `${before}
import { StatusCode, SvcTool } from "svc-runtime";

export type Input = ${input};
export type Output = ${output};

/** Tool number ${at}. */
export class Tool${at} extends SvcTool<Input, Output> {
  static override fqn() { return "xyz.bench.real${at}@1"; }
  static override path() { return "real${at}"; }
  override async invoke(_: Input): Promise<Output> { throw new Error("not run"); }
  override async health() { return StatusCode.OK; }
}
`;
}
