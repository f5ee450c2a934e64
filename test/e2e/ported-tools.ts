/** What an author writes after `svc-gen import`: invoke of six published tools, from four of their servers. */

export interface PortedTool {
  /** The file of the imported class, without extension. */
  readonly file: string;
  /** Written before the class. */
  readonly before?: string;
  /** The method that replaces the imported `invoke`. */
  readonly invoke: string;
}

const HTTP = 'import { HttpError, http, type InvokeContext } from "svc-runtime";\n';
const UPSTREAM = "process.env.UPSTREAM";

const coinbase = (path: string, result: string): string => `
  override async invoke(input: Input, context: InvokeContext): Promise<Output> {
    try {
      const data = (await http(context, new URL(\`${path}\`, ${UPSTREAM}))).json() as Record<string, string>;
      return { ok: ${result} };
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      const kind = error.status === 404 ? CoinbaseErrorKind.NotFound : CoinbaseErrorKind.NetworkConnectionFailed;
      return { err: { reason: error.kind, kind, status_code: error.status } };
    }
  }
`;

const math = (operator: "+" | "*"): string => `
  override async invoke({ a, b }: Input): Promise<Output> {
    const result = a ${operator} b;
    if (BigInt.asIntN(64, result) !== result) return { err: { reason: "overflow" } };
    return { ok: { result } };
  }
`;

export const PORTED: readonly PortedTool[] = [
  { file: "add", invoke: math("+") },
  { file: "mul", invoke: math("*") },
  {
    file: "get-spot-price",
    before: HTTP,
    invoke: coinbase(
      `/prices/\${input.currency_pair}/spot`,
      '{ amount: data.amount ?? "", base: data.base ?? "", currency: data.currency ?? "" }',
    ),
  },
  {
    file: "get-product-stats",
    before: HTTP,
    invoke: coinbase(
      `/products/\${input.product_id}/stats`,
      '{ open: data.open ?? "", high: data.high ?? "", low: data.low ?? "", volume: data.volume ?? "", last: data.last ?? "" }',
    ),
  },
  {
    file: "read-file",
    before: HTTP,
    invoke: `
  override async invoke({ blob_id, aggregator_url }: Input, context: InvokeContext): Promise<Output> {
    try {
      const url = new URL(\`/v1/blobs/\${encodeURIComponent(blob_id)}\`, aggregator_url ?? ${UPSTREAM});
      const { bytes } = await http(context, url, { headers: { Accept: "*/*" }, publicOnly: aggregator_url !== undefined });
      return { ok: { bytes: [...bytes] } };
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      return { err: { reason: error.kind, kind: ReadErrorKind.Network, status_code: error.status } };
    }
  }
`,
  },
  {
    file: "get-list",
    before: HTTP,
    invoke: `
  override async invoke(input: Input, context: InvokeContext): Promise<Output> {
    try {
      const answer = await http(context, new URL(\`/2/lists/\${input.list_id}\`, ${UPSTREAM}), {
        headers: { Authorization: \`Bearer \${input.bearer_token}\` },
        query: { "list.fields": input["list.fields"]?.join(",") },
      });
      const { data } = answer.json() as { data: { id: string; name: string; member_count?: number } };
      return { ok: data };
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      const kind = error.status === 401 ? TwitterErrorKind.Auth : TwitterErrorKind.Network;
      return { err: { reason: error.kind, kind, status_code: error.status } };
    }
  }
`,
  },
];
