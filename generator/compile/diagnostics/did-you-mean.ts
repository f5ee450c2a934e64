/** The nearest known names, for "did you mean": the runtime's. */

export { closest, didYouMean } from "svc-runtime/internal/generator";
