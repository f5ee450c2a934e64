/** The contract of a tool: its types, and the changes of the project's contracts since git HEAD. */

import { committedContract } from "../../contract/committed-contract.js";
import { diffDocuments, formatDifferences, isBroken } from "../../contract/diff.js";
import { readMetadata, UnreadableMetadata } from "../../contract/metadata.js";
import { OutOfTime, runWithin } from "../../process/run-within.js";
import type { ContractView } from "./page-api.js";

/**
 * Describes the contract of a tool.
 *
 * @param root folder of the project; undefined for a remote server, whose contracts are not compared
 * @param metaJson the served contracts
 * @param metadata metadata document of the tool
 */
export async function contractView(
  root: string | undefined,
  metaJson: string,
  metadata: string,
): Promise<ContractView> {
  const none = { changes: "", broken: false, against: "contracts of a remote server are not compared with git" };
  return { types: await typesText(metadata), ...(root === undefined ? none : compared(root, metaJson)) };
}

function compared(root: string, metaJson: string): Omit<ContractView, "types"> {
  const none = { changes: "", broken: false };
  const committed = committedContract(root);
  if ("fault" in committed) {
    const next = "commit meta.json to see changes";
    return { ...none, against: `git HEAD has no meta.json to compare with; ${next} (${committed.fault})` };
  }
  try {
    const before = { name: "meta.json of git HEAD", text: committed.text };
    const differences = diffDocuments(before, { name: "meta.json", text: metaJson });
    const changed = differences.filter(({ verdict }) => verdict !== "same");
    return {
      against: "compared with meta.json of git HEAD",
      changes: formatDifferences(changed) || "The contracts have not changed.",
      broken: isBroken(differences),
    };
  } catch (error) {
    if (error instanceof UnreadableMetadata) return { ...none, against: error.message };
    throw error;
  }
}

/** Milliseconds for the types of a tool, whose patterns may be slow to analyse. */
const TYPES_MS = 2000;

/** The types of a tool, as `svc-gen import` writes them. */
async function typesText(metadata: string): Promise<string> {
  const { typesOf } = await import("../../import/schema-types.js");
  const { printDeclaration } = await import("../../import/print-types.js");
  const [tool] = readMetadata(Buffer.from(metadata), "the metadata");
  if (tool === undefined) return "";
  try {
    return runWithin(TYPES_MS, () => typesOf(tool.input, tool.output, "Tool").map(printDeclaration).join("\n"));
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    return `The types are ${error.message}: see the metadata document.`;
  }
}
