import { LeaderClient } from "svc-client/internal/leader/client";
import { contractIn, type LeaderOptions } from "svc-client/internal/leader/options";
import type { InputOf, OutputOf, ToolType } from "svc-client/internal/leader/tool-types";
import type { Contract } from "svc-client/internal/wire/codec/contract";
import { localUrl, metadataText } from "../server/wire/metadata.js";
import { SvcTool } from "../tool.js";
import { type RawResponse, TestServer } from "./test-server.js";

/** A fake tool and its client. */
export interface FakeTool<Tool extends ToolType> {
  /** Client that signs and verifies as for a served tool, without using the network. */
  readonly client: LeaderClient<Tool>;
  /** Decoded inputs of all runs. */
  readonly inputs: readonly InputOf<Tool>[];
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Options of {@link createFakeTool}: those client options that do not depend on a server. */
export type FakeToolOptions = Pick<LeaderOptions, "observe" | "reader">;

/**
 * Creates a client for testing code that calls a tool; a function of the test answers the calls. Inputs and results
 * pass through the tool's contract and the server's pipeline, which rejects those that do not match.
 *
 * @param contracts generated contracts that include the tool's
 * @param fqn the tool
 * @param answer returns the result of each run. If it throws an `InvalidInput`, the caller gets 422; for any other
 * error, `tool_invocation_failed`
 * @example
 * ```ts
 * import { createFakeTool } from "svc-runtime/testing";
 * import { contracts } from "./generated/contracts.js";
 * import type { Sum } from "./sum.js";
 *
 * const fake = await createFakeTool<typeof Sum>(contracts, "xyz.demo.sum@1", ({ a, b, label, tags }) => ({
 *   ok: { sum: a + b, label, tags },
 * }));
 * export const { tag } = await fake.client.invoke({ a: 1n, b: 2n, label: "x", tags: ["y"] });
 * await fake.close();
 * ```
 * @throws TypeError if the contracts do not include the tool's
 */
export async function createFakeTool<Tool extends ToolType>(
  contracts: readonly Contract[],
  fqn: string,
  answer: (input: InputOf<Tool>) => OutputOf<Tool> | Promise<OutputOf<Tool>>,
  options: FakeToolOptions = {},
): Promise<FakeTool<Tool>> {
  const contract = contractIn(contracts, fqn);
  const document = metadataText(contract, localUrl(""));
  const inputs: InputOf<Tool>[] = [];
  const server = await TestServer.start(
    [
      classOf(contract, (input) => {
        inputs.push(input as InputOf<Tool>);
        return answer(input as InputOf<Tool>);
      }),
    ],
    { contracts },
  );
  const [tool] = server.tools;
  const dispatch = (request: object, handler: object) => {
    const { path, headers, body } = request as Dispatched;
    const exchange = handler as Handler;
    const control = { abort: () => {} };
    exchange.onRequestStart(control);
    const answered: Promise<Pick<RawResponse, "status" | "headers" | "body">> =
      path === "/invoke" && tool !== undefined
        ? server.call(tool, { headers, body }).then(({ answer }) => answer)
        : Promise.resolve({
            status: 200,
            headers: {},
            body: Buffer.from(path === "/meta" ? document : ""),
          });
    answered.then(
      ({ status, headers, body }) => {
        exchange.onResponseStart(control, status, headers);
        exchange.onResponseData(control, body);
        exchange.onResponseEnd();
      },
      (error: Error) => exchange.onResponseError(control, error),
    );
    return true;
  };
  const toolKey = server.leaders.config.toolConfig(contract.fqn)?.signingKey?.publicKey as Uint8Array;
  const client = LeaderClient.fromMetadata<Tool>(document, {
    ...options,
    leader: server.leaders.leader("leader"),
    toolKey,
    dispatcher: { dispatch },
    contracts,
  });
  const close = async () => {
    await client.close();
    await server.close();
  };
  return { client, inputs, close, [Symbol.asyncDispose]: close };
}

interface Dispatched {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Handler that the client passes to undici's `dispatch`. */
interface Handler {
  onRequestStart(control: object): void;
  onResponseStart(control: object, status: number, headers: RawResponse["headers"]): void;
  onResponseData(control: object, chunk: Buffer): void;
  onResponseEnd(): void;
  onResponseError(control: object, error: Error): void;
}

function classOf({ fqn, path, description, timeout }: Contract, answer: (input: unknown) => unknown) {
  return class extends SvcTool<unknown, unknown> {
    static override fqn() {
      return fqn;
    }
    static override path() {
      return path;
    }
    static override description() {
      return description;
    }
    static override timeout() {
      return timeout;
    }
    override async invoke(input: unknown) {
      return answer(input);
    }
  };
}
