/** Paths of tools. */

/** Path without empty segments. Tools with equal canonical paths collide. */
export function canonicalPath(path: string): string {
  return path.split("/").filter(Boolean).join("/");
}

/** Whether a server can serve a tool at a path. */
export function isToolPath(path: string): boolean {
  return /^[A-Za-z0-9\-._~!$&'()*+,;=:@/]*$/.test(path);
}
