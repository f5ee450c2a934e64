import { quote } from "svc-runtime/internal/generator";
import type { ToolResult } from "svc-runtime/leader";

/** `{"variant":{…}}`: combines the texts of a result's values to JSON, so that no number is reformatted. */
export function resultText({ tag, ports }: Pick<ToolResult, "tag" | "ports">): string {
  const members = ports.map(({ name, many, values }) => {
    const texts = values.map((value) =>
      value.kind === "inline"
        ? Buffer.from(value.bytes).toString("utf8")
        : `{"stored":${quote(Buffer.from(value.blobId).toString("latin1"))}}`,
    );
    return `${quote(name)}:${many ? `[${texts.join(",")}]` : texts[0]}`;
  });
  return `{${quote(tag)}:{${members.join(",")}}}`;
}
