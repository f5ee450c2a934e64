import { spawn } from "node:child_process";

/**
 * @param interrupted aborts npm when it resolves
 * @returns npm's output if it failed or was aborted, otherwise undefined
 */
export function npmInstall(
  folder: string,
  env: NodeJS.ProcessEnv,
  interrupted: Promise<unknown>,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
    });
    void interrupted.then(() => child.kill());
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
    }
    child.once("error", (error: NodeJS.ErrnoException) => {
      resolve(error.code === "ENOENT" ? "npm was not found on the PATH" : error.message);
    });
    child.once("close", (code, signal) => {
      resolve(code === 0 ? undefined : `${text}npm ended with ${signal ?? `exit code ${code}`}`);
    });
  });
}
