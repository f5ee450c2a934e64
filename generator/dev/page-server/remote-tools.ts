import type { TlsOptions } from "svc-runtime/leader";
import { exchange, type HttpExchange } from "../../http-exchange.js";
import { listedTools } from "../../tool-addresses.js";
import type { ProblemView } from "./page-api.js";
import { PageFault } from "./page-fault.js";
import { type ShownTool, shownTool } from "./tool-views.js";

export interface RemoteServer {
  readonly tools: readonly ShownTool[];
  /** Reasons why some listed tools are not shown. */
  readonly problems: readonly ProblemView[];
  /** Whether the server requires signatures; null if unknown. */
  readonly signed: boolean | null;
}

const TIMEOUT_MS = 10_000;
const MAX_TOOLS = 1000;
/** Maximum size of all metadata together, which the page receives. */
const MAX_METADATA_BYTES = 16 * 1024 * 1024;

/**
 * Reads the tools of a server. A tool that cannot be read is reported as a problem.
 *
 * @param url address of the server, or of one of its tools
 * @throws PageFault if there are no tools or too many
 */
export async function remoteServer(url: string, tls: TlsOptions | undefined): Promise<RemoteServer> {
  const get = (address: string) =>
    exchange({
      method: "GET",
      url: new URL(address),
      headers: [["Accept", "application/json"]],
      timeoutMs: TIMEOUT_MS,
      tls,
    });
  const own = await get(`${url}/meta`);
  if (own.response === undefined) throw new PageFault(`no answer from ${url}: ${own.failure?.message}`);
  const found: ShownTool[] = [];
  const problems: ProblemView[] = [];
  const add = (document: string, address: string) => {
    try {
      const tool = shownTool(document, address);
      const same = found.find(({ view }) => view.fqn === tool.view.fqn);
      // The page identifies tools by FQN.
      if (same !== undefined) throw new PageFault(`${address} has the same FQN as ${same.view.url}: ${tool.view.fqn}`);
      found.push(tool);
    } catch (error) {
      if (!(error instanceof PageFault)) throw error;
      problems.push({ title: `${address} is not shown`, text: error.message });
    }
  };
  if (own.response.status === 200) add(text(own), url);
  let bytes = own.response.body.length;
  const listed = await get(`${url}/tools`);
  const addresses = listed.response?.status === 200 ? (listedTools(url, listed.response.body) ?? []) : [];
  if (addresses.length > MAX_TOOLS)
    throw new PageFault(
      `${url}/tools lists ${addresses.length} tools; at most ${MAX_TOOLS} can be shown: pass the address of one tool`,
    );
  for (const address of new Set(addresses)) {
    if (address === url && own.response.status === 200) continue;
    const meta = await get(`${address}/meta`);
    if (meta.response === undefined) {
      // Stops here, because a request to each remaining tool would probably also run into the timeout.
      problems.push({
        title: `${address} and the tools listed after it are not shown`,
        text: `no answer from ${address}: ${meta.failure?.message}`,
      });
      break;
    }
    if (meta.response.status !== 200) {
      problems.push({ title: `${address} is not shown`, text: `${address}/meta answers ${meta.response.status}` });
      continue;
    }
    bytes += meta.response.body.length;
    if (bytes > MAX_METADATA_BYTES)
      throw new PageFault(
        `the metadata of ${url} exceeds ${MAX_METADATA_BYTES} bytes in total: pass the address of one tool`,
      );
    add(text(meta), address);
  }
  const [first] = found;
  const [problem] = problems;
  if (first === undefined && problem !== undefined) throw new PageFault(problem.text);
  if (first === undefined)
    throw new PageFault(
      `${url} is not a tool server: /meta answers ${own.response.status}, and /tools answers ${listed.response?.status ?? "nothing"}`,
    );
  return { tools: found, problems, signed: await requiresSignatures(first.view.url, tls) };
}

/** Sends an empty body, for which no tool runs. The answer is 401 if signatures are required, otherwise 422. */
async function requiresSignatures(url: string, tls: TlsOptions | undefined): Promise<boolean | null> {
  const { response } = await exchange({
    method: "POST",
    url: new URL(`${url}/invoke`),
    headers: [["Content-Type", "application/json"]],
    body: Buffer.alloc(0),
    timeoutMs: TIMEOUT_MS,
    tls,
  });
  return response?.status === 401 ? true : response?.status === 422 ? false : null;
}

function text({ response }: HttpExchange): string {
  return response?.body.toString("utf8") ?? "";
}
