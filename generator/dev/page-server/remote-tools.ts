import type { TlsOptions } from "svc-runtime/leader";
import { exchange } from "../../http/exchange.js";
import { getDocument, toolsAt } from "../../http/tools-at.js";
import type { ProblemView } from "./page-api.js";
import { PageFault } from "./page-fault.js";
import { type ShownTool, shownTool } from "./tool-views.js";

export interface RemoteServer {
  readonly address: string;
  readonly tools: readonly ShownTool[];
  /** Reasons why some listed tools are not shown. */
  readonly problems: readonly ProblemView[];
  /** Whether the server requires signatures; null if unknown. */
  readonly signed: boolean | null;
}

const TIMEOUT_MS = 10_000;
/** Maximum size of all metadata together, which the page receives. */
const MAX_METADATA_BYTES = 16 * 1024 * 1024;

/**
 * Reads the tools of a server. A tool that cannot be read is reported as a problem.
 *
 * @param url address of the server, or of one of its tools
 * @throws PageFault if there are no tools; RangeError if there are too many
 */
export async function remoteServer(url: string, tls: TlsOptions | undefined): Promise<RemoteServer> {
  const { address, meta: own, addresses, hints } = await toolsAt(url, tls);
  if (own !== undefined && own.response === undefined)
    throw new PageFault(`no answer from ${address}: ${own.failure?.message}`);
  const found: ShownTool[] = [];
  const problems: ProblemView[] = [];
  const omit = (each: string, reason: string) => problems.push({ title: `${each} is not shown`, text: reason });
  let bytes = 0;
  for (const each of addresses) {
    const { response, failure } = own ?? (await getDocument(`${each}/meta`, tls));
    if (response === undefined) {
      // Stops here, because a request to each remaining tool would probably also run into the timeout.
      omit(`${each}, with the tools listed after it,`, `no answer from ${each}: ${failure?.message}`);
      break;
    }
    if (response.status !== 200) {
      omit(each, `${each}/meta answers ${response.status}`);
      continue;
    }
    bytes += response.body.length;
    if (bytes > MAX_METADATA_BYTES)
      throw new PageFault(
        `the metadata of ${address} exceeds ${MAX_METADATA_BYTES} bytes in total: pass the address of one tool`,
      );
    try {
      const tool = shownTool(response.body.toString("utf8"), each, hints.get(each));
      const same = found.find(({ view }) => view.fqn === tool.view.fqn);
      // The page identifies tools by FQN.
      if (same === undefined) found.push(tool);
      else omit(each, `${each} has the same FQN as ${same.view.url}: ${tool.view.fqn}`);
    } catch (error) {
      if (!(error instanceof PageFault)) throw error;
      omit(each, error.message);
    }
  }
  const [first] = found;
  if (first !== undefined)
    return { address, tools: found, problems, signed: await requiresSignatures(first.view.url, tls) };
  const reason = `${address} is not a tool server: /meta answers ${own?.response?.status}, and /tools lists no tools`;
  throw new PageFault(problems[0]?.text ?? reason);
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
