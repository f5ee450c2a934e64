/** Comparison of the project's contract with the one in git HEAD. */

import { committedContract } from "../../contract/committed-contract.js";
import { changeText, diffDocuments, isBroken } from "../../contract/diff.js";
import { UnreadableMetadata } from "../../contract/metadata.js";
import type { ContractView } from "./page-api.js";

/**
 * Compares the served contract with the committed one.
 *
 * @param root folder of the project; undefined for a remote server
 * @param metaJson the served contract
 */
export function contractView(root: string | undefined, metaJson: string): ContractView {
  const none = (against: string): ContractView => ({ against, differences: [], broken: false });
  if (root === undefined) return none("contracts of a remote server are not compared with git");
  const committed = committedContract(root);
  if ("fault" in committed)
    return none(`git HEAD has no meta.json to compare with; commit meta.json to see changes (${committed.fault})`);
  try {
    const differences = diffDocuments(
      { name: "meta.json of git HEAD", text: committed.text },
      { name: "meta.json", text: metaJson },
    );
    return {
      against: "compared with meta.json of git HEAD",
      broken: isBroken(differences),
      differences: differences.map(({ tool, before, after, verdict, changes }) => ({
        tool,
        verdict,
        versions: before === after || after === undefined ? `@${before}` : `@${before ?? "-"} → @${after}`,
        changes: changes.map(({ kind, port, ...change }) => ({ kind, port: port ?? null, change: changeText(change) })),
      })),
    };
  } catch (error) {
    if (error instanceof UnreadableMetadata) return none(error.message);
    throw error;
  }
}
