export { closest, didYouMean } from "svc-runtime/internal/generator";
