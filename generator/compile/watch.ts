/** Watches a project with TypeScript's watch program, and generates after each change of it or its configuration. */

import { existsSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Diagnostic, hasErrors } from "./diagnostics/diagnostics.js";
import { generateFrom, type Result } from "./generate.js";
import { type Compiled, compile } from "./project/emit-javascript.js";
import { folderIdentity } from "./project/file-hash.js";
import { foldersUp } from "./project/folders-up.js";
import { type GenerateOptions, layoutOf } from "./project/layout.js";
import { adaptHost, type InvalidProject, openProgram, type Project, readProject, rootsOf } from "./project/program.js";
import { ts } from "./project/typescript.js";

/** Milliseconds without an event before a run starts; one save causes several events. */
const SETTLE_MS = 10;

/** Watches folders instead of files, because a file that is replaced loses its watcher. */
const WATCH_OPTIONS: ts.WatchOptions = {
  watchFile: ts.WatchFileKind.UseFsEventsOnParentDirectory,
  watchDirectory: ts.WatchDirectoryKind.UseFsEvents,
  synchronousWatchDirectory: true,
};
/** Polling interval, in milliseconds, for paths whose folder does not exist. */
const POLL_MS = 250;

/** Callbacks of the command line. */
export interface Effects {
  /** Writes the files that differ from those on disk and returns their paths. */
  readonly write: (files: Result["files"]) => readonly string[];
  readonly tell: (result: WatchResult) => void;
  /** Called if a run throws; the next change starts another run. If absent, watching ends with the error. */
  readonly failed?: (error: unknown) => void;
}

/** Result of a run: diagnostics, written files, and milliseconds since the first event that caused it. */
export interface WatchResult {
  readonly diagnostics: readonly Diagnostic[];
  readonly wrote: readonly string[];
  readonly milliseconds: number;
  /** Generated files; empty if there are errors. */
  readonly files: Result["files"];
  /** Compiles the project to JavaScript (see {@link compile}). Only after a run without errors. */
  readonly compile: (fallback: string) => Compiled;
}

/** Generates now and after every change until `end` resolves. Rejects if a callback throws. */
export async function watchProject(options: GenerateOptions, effects: Effects, end: Promise<unknown>): Promise<void> {
  let fail: (error: unknown) => void = () => {};
  const failure = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const session = new WatchSession(options, effects, (error) => fail(error));
  try {
    session.attempt();
    await Promise.race([end, failure]);
  } finally {
    session.close();
  }
}

type WatchBuilder = ts.SemanticDiagnosticsBuilderProgram;

class WatchSession {
  #project: Project | undefined;
  #program: ts.WatchOfFilesAndCompilerOptions<WatchBuilder> | undefined;
  #current: Result | undefined;
  /** Versions of the program's files at the run that produced `current`. */
  #versions = "";
  #configChanged = true;
  /**
   * Whether packages were installed since the program was opened; TypeScript's watch keeps the old module resolution.
   */
  #packagesChanged = false;
  /** Program updates that TypeScript has scheduled. */
  readonly #updates = new Set<() => void>();
  readonly #watchers = new Map<string, ts.FileWatcher>();
  #timer: NodeJS.Timeout | undefined;
  #firstEventAt = performance.now();

  readonly #options: GenerateOptions;
  readonly #effects: Effects;
  readonly #fail: (error: unknown) => void;

  constructor(options: GenerateOptions, effects: Effects, fail: (error: unknown) => void) {
    this.#options = options;
    this.#effects = effects;
    this.#fail = fail;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#closeProgram();
    this.#closeWatchers([...this.#watchers.keys()]);
  }

  #schedule(): void {
    if (this.#timer === undefined) this.#firstEventAt = performance.now();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.attempt();
    }, SETTLE_MS);
  }

  /** Runs. After an error, runs again with a new program, because TypeScript may fail only on reused files. */
  attempt(): void {
    const { failed } = this.#effects;
    try {
      this.#run();
    } catch (error) {
      if (failed === undefined) {
        this.#fail(error);
        return;
      }
      try {
        this.#forget();
        this.#run();
      } catch (again) {
        this.#forget();
        failed(again);
      }
    }
  }

  #forget(): void {
    this.#closeProgram();
    this.#configChanged = true;
    this.#current = undefined;
  }

  /**
   * Reads the configuration if it may have changed, updates the program, and writes the generated files that differ.
   */
  #run(): void {
    const before = this.#current;
    this.#update();
    if (this.#missesSource()) {
      this.#forget();
      this.#update();
    }
    const current = this.#current;
    if (current === undefined) return;
    const wrote = hasErrors(current.diagnostics) ? [] : this.#effects.write(current.files);
    if (current === before && wrote.length === 0) return;
    const milliseconds = Math.round(performance.now() - this.#firstEventAt);
    this.#effects.tell({ ...current, wrote, milliseconds, compile: (fallback) => this.#compile(current, fallback) });
  }

  #update(): void {
    if (this.#configChanged) this.#readConfiguration();
    // An update may schedule another one, which this loop also runs.
    for (const update of this.#updates) {
      this.#updates.delete(update);
      update();
    }
  }

  /**
   * Whether a source that exists seems to be missing, or a tool was removed. Git deletes and creates a file to replace it, and TypeScript's
   * watch may continue without the file.
   */
  #missesSource(): boolean {
    const program = this.#program?.getProgram();
    const isMissed = (path: string) => program?.getSourceFile(path) === undefined && existsSync(path);
    return (
      this.#current?.diagnostics.some(({ code }) => code === "SVC106") === true ||
      (program !== undefined && this.#project?.files.some(isMissed) === true)
    );
  }

  #compile({ files }: Result, fallback: string): Compiled {
    const project = this.#project;
    const program = this.#program;
    if (project === undefined || program === undefined) throw new Error("compile: the project cannot be read");
    return compile(program.getProgram().getProgram(), project, files, fallback);
  }

  #readConfiguration(): void {
    this.#configChanged = false;
    if (this.#packagesChanged) this.#closeProgram();
    this.#packagesChanged = false;
    const last = this.#project;
    const project = readProject(layoutOf(this.#options));
    this.#project = "diagnostics" in project ? undefined : project;
    this.#followConfiguration(project);
    if ("diagnostics" in project) {
      this.#closeProgram();
      const { diagnostics } = project;
      if (!isDeepStrictEqual(this.#current?.diagnostics, diagnostics)) this.#current = { files: [], diagnostics };
    } else if (this.#program === undefined || !isSameCompilation(last, project)) {
      this.#closeProgram();
      this.#openProgram(project);
    } else if (!isDeepStrictEqual(last?.files, project.files)) this.#program.updateRootFileNames(rootsOf(project));
  }

  #openProgram(project: Project): void {
    const host = ts.createWatchCompilerHost(
      rootsOf(project),
      project.options,
      ts.sys,
      ts.createSemanticDiagnosticsBuilderProgram,
      undefined,
      () => {},
      project.references,
      WATCH_OPTIONS,
    );
    this.#program = ts.createWatchProgram({
      ...adaptHost(host, project),
      watchFile,
      getCurrentDirectory: () => project.layout.root,
      afterProgramCreate: (builder) => this.#generate(builder),
      setTimeout: (update: (...args: unknown[]) => void, _: number, ...args: unknown[]) => {
        const run = () => update(...args);
        this.#updates.add(run);
        this.#schedule();
        return run;
      },
      clearTimeout: (run: () => void) => this.#updates.delete(run),
    });
  }

  #generate(builder: WatchBuilder): void {
    const project = this.#project;
    if (project === undefined) return;
    while (builder.getSemanticDiagnosticsOfNextAffectedFile() !== undefined);
    const program = builder.getProgram();
    const current = generateFrom(openProgram(project, program, builder));
    // TypeScript also creates a new program if a new folder appears, such as the output folder; its files are the same.
    const versions = (program.getSourceFiles() as readonly InnerFile[]).map(versionOf).join("\n");
    if (versions === this.#versions && isDeepStrictEqual(current, this.#current)) return;
    this.#versions = versions;
    this.#current = current;
  }

  /** Watches the generated files, all inputs of the configuration, source folders and package folders. */
  #followConfiguration({ recorder }: Project | InvalidProject): void {
    const { lookups, own } = recorder.snapshot();
    const changed = () => {
      this.#configChanged = true;
      this.#schedule();
    };
    const wanted = new Map<string, () => ts.FileWatcher>();
    for (const path of own) wanted.set(path, () => watchFile(path, () => this.#schedule()));
    for (const [question, path, answer] of lookups) {
      if (question === "entries") {
        wanted.set(`${path}${sep}${folderIdentity(path)}`, () => this.#watchFolder(path, changed));
      } else if (question === "text" || answer === false) wanted.set(path, () => watchFile(path, changed));
    }
    const installed = (path: string) => {
      if (/[\\/]\.(?!package-lock|modules\.yaml|yarn)[^\\/]*$/.test(path)) return;
      this.#packagesChanged = true;
      changed();
    };
    for (const folder of packageFolders(layoutOf(this.#options).root)) {
      wanted.set(folder, () => watchFile(folder, () => installed(folder)));
      if (!existsSync(folder)) continue;
      wanted.set(`${folder}${sep}${folderIdentity(folder)}`, () => watchEntries(folder, installed));
    }
    const gone = [...this.#watchers.keys()].filter((key) => !wanted.has(key));
    // TypeScript's watchers report neither the files of a folder that is renamed, nor those of a folder that replaces it.
    const moved = gone.some((key) => /^-?\d+ /.test(basename(key)));
    if (moved) this.#closeProgram();
    this.#closeWatchers(moved ? [...this.#watchers.keys()] : gone);
    const opened = [...wanted].filter(([key]) => !this.#watchers.has(key));
    for (const [key, watch] of opened) this.#watchers.set(key, watch());
    // Schedules another run, because a change between reading the configuration and watching its inputs was missed.
    if (opened.length > 0) changed();
  }

  #closeWatchers(keys: readonly string[]): void {
    for (const key of keys) {
      this.#watchers.get(key)?.close();
      this.#watchers.delete(key);
    }
  }

  #closeProgram(): void {
    this.#program?.close();
    this.#program = undefined;
    this.#updates.clear();
  }

  #watchFolder(folder: string, changed: () => void): ts.FileWatcher {
    return watchEntries(folder, (path) => {
      if (!this.#isSourceSaved(path)) changed();
    });
  }

  /** Whether an event only changes the text of a known source, which the program watches itself. */
  #isSourceSaved(path: string): boolean {
    return this.#program !== undefined && this.#project?.files.includes(resolve(path)) === true && existsSync(path);
  }
}

/**
 * Watches a file for creation, change and deletion. TypeScript reports all of these as changes when it watches the
 * folder.
 */
const watchFile: NonNullable<ts.System["watchFile"]> = (path, callback) => {
  let existed = existsSync(path);
  const onEvent: ts.FileWatcherCallback = (name, _, time) => {
    const exists = existsSync(path);
    const { Changed, Created, Deleted } = ts.FileWatcherEventKind;
    const kind = exists ? (existed ? Changed : Created) : Deleted;
    existed = exists;
    callback(name, kind, time);
  };
  const options = existsSync(dirname(path)) ? WATCH_OPTIONS : { watchFile: ts.WatchFileKind.FixedPollingInterval };
  return ts.sys.watchFile?.(path, onEvent, POLL_MS, options) ?? { close() {} };
};

function watchEntries(folder: string, onEvent: (path: string) => void): ts.FileWatcher {
  return ts.sys.watchDirectory?.(folder, onEvent, false, WATCH_OPTIONS) ?? { close() {} };
}

/** Folders into which packages are installed: the project's, which may not exist, and those above. */
function packageFolders(root: string): string[] {
  return foldersUp(root)
    .map((folder) => join(folder, "node_modules"))
    .filter((folder, level) => level === 0 || existsSync(folder));
}

/** Whether two projects differ only in their files. */
function isSameCompilation(one: Project | undefined, other: Project): boolean {
  const parts = ({ options, installed, references, notes }: Project) => ({ options, installed, references, notes });
  return one !== undefined && isDeepStrictEqual(parts(one), parts(other));
}

interface InnerFile extends ts.SourceFile {
  /** Hash of the text, in a watch program. */
  readonly version: string;
}

function versionOf(file: InnerFile): string {
  return `${file.fileName} ${file.version}`;
}
