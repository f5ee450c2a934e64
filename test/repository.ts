import { fileURLToPath } from "node:url";

/** The folder of this repository. */
export const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));
