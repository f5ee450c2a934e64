/** Whether an error says that a package is not installed, with `import`, `require` or in a bundle. */
export function isMissingModule(error: unknown): boolean {
  return String((error as NodeJS.ErrnoException | null)?.code).endsWith("MODULE_NOT_FOUND");
}
