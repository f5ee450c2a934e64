import { quote } from "svc-runtime/internal/generator";
import type { VerifiedReceipt } from "svc-runtime/leader";

type Port = VerifiedReceipt["result"]["ports"][number];

/** `{"variant":{…}}`: combines the texts of a result's values to JSON, so that no number is reformatted. */
export function resultText({
  tag,
  ports,
}: {
  readonly tag: string;
  readonly ports: readonly (Pick<Port, "name"> & {
    readonly many: boolean;
    readonly values: readonly Port["values"][number][];
  })[];
}): string {
  const members = ports.map(({ name, many, values }) => {
    const texts = values.map((value) => {
      if (value.kind === "inline") return Buffer.from(value.bytes).toString("utf8");
      if (value.kind === "object") return `{"object":"0x${Buffer.from(value.id).toString("hex")}"}`;
      return `{"stored":${quote(Buffer.from(value.blobId).toString("latin1"))}}`;
    });
    return `${quote(name)}:${many ? `[${texts.join(",")}]` : texts[0]}`;
  });
  return `{${quote(tag)}:{${members.join(",")}}}`;
}
