/**
 * Slow work as three tools with short calls: `start` returns the id of a job, `status` its state, `result` what it found.
 * Each job is a file, so that its state survives a crash. Several processes would need a database in place of the folder.
 */

import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Piscina } from "piscina";
import { type InvokeContext, SvcTool } from "svc-runtime";
import type { Found, Input } from "./nearest.js";

/** `interrupted`: the process ended before the job did. Start it again. */
export type State = "running" | "done" | "failed" | "interrupted";

export interface JobId {
  /** @pattern ^[0-9a-f-]{36,64}$ */
  job: string;
}

interface Job {
  readonly state: State;
  /** Process that runs the job. */
  readonly run: string;
  readonly leader: string | undefined;
  readonly found?: Found;
}

const FOLDER = process.env.JOBS_FOLDER ?? join(tmpdir(), "similarity-jobs");
const RUN = randomUUID();
const MAX_WAITING = 100;
const KEPT_MS = 24 * 3_600_000;

async function write(id: string, job: Job): Promise<void> {
  const file = join(FOLDER, `${id}.json`);
  await writeFile(`${file}.new`, JSON.stringify(job));
  await rename(`${file}.new`, file);
}

/** A job of this leader; undefined for others, as if there were none. */
async function read(id: string, auth: InvokeContext["auth"]): Promise<Job | undefined> {
  const text = await readFile(join(FOLDER, `${id}.json`), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const job: Job = JSON.parse(text);
  if (job.leader !== auth?.leaderId) return undefined;
  return job.state === "running" && job.run !== RUN ? { ...job, state: "interrupted" } : job;
}

/**
 * Starts a search that may take minutes, and returns the id of the job.
 * @destructive false
 */
export class StartSearch extends SvcTool<Input, { ok: JobId } | "busy"> {
  static #pool: Piscina<Input, Found>;
  static #isClosing = false;

  static override fqn() {
    return "text.similar.start@1";
  }

  static override path() {
    return "search/start";
  }

  static override variables() {
    return { "JOBS_FOLDER?": "Folder of the jobs; by default a temporary folder." };
  }

  static override async create() {
    await mkdir(FOLDER, { recursive: true });
    for (const file of await readdir(FOLDER)) {
      const { mtimeMs } = await stat(join(FOLDER, file));
      if (Date.now() - mtimeMs > KEPT_MS) await rm(join(FOLDER, file));
    }
    const filename = new URL("./search.js", import.meta.url).href;
    StartSearch.#pool = new Piscina({ filename, maxThreads: 1, maxQueue: MAX_WAITING });
  }

  static override async close() {
    StartSearch.#isClosing = true;
    await StartSearch.#pool.destroy();
  }

  override async invoke(input: Input, { auth, log }: InvokeContext): Promise<{ ok: JobId } | "busy"> {
    if (StartSearch.#pool.queueSize >= MAX_WAITING) return "busy";
    // The nonce names the call, so a start that runs again, after a crash or after the TTL, does not add a second job.
    const id = auth === undefined ? randomUUID() : Buffer.from(auth.nonce).toString("hex");
    if ((await read(id, auth))?.state === "running") return { ok: { job: id } };
    const job = { run: RUN, leader: auth?.leaderId };
    await write(id, { ...job, state: "running" });
    StartSearch.#pool
      .run(input)
      .then((found) => write(id, { ...job, state: "done", found }))
      .catch(async (error: unknown) => {
        if (StartSearch.#isClosing) return;
        log.error({ err: error, job: id }, "the search failed");
        await write(id, { ...job, state: "failed" });
      })
      .catch((error: unknown) => log.error({ err: error, job: id }, "the end of the search was not recorded"));
    return { ok: { job: id } };
  }
}

/**
 * Returns the state of a search.
 * @readOnly
 */
export class SearchStatus extends SvcTool<JobId, { ok: { state: State } } | "unknown"> {
  static override fqn() {
    return "text.similar.status@1";
  }

  static override path() {
    return "search/status";
  }

  override async invoke({ job }: JobId, { auth }: InvokeContext): Promise<{ ok: { state: State } } | "unknown"> {
    const known = await read(job, auth);
    return known === undefined ? "unknown" : { ok: { state: known.state } };
  }
}

/**
 * Returns the result of a search that is done.
 * @readOnly
 */
export class SearchResult extends SvcTool<JobId, { ok: { found: Found } } | { pending: { state: State } } | "unknown"> {
  static override fqn() {
    return "text.similar.result@1";
  }

  static override path() {
    return "search/result";
  }

  override async invoke({ job }: JobId, { auth }: InvokeContext) {
    const known = await read(job, auth);
    if (known === undefined) return "unknown" as const;
    return known.found === undefined ? { pending: { state: known.state } } : { ok: { found: known.found } };
  }
}
