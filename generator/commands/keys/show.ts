/** `svc-gen keys show FILE`: describes the content of a key file. */

import { defineCommand, EXIT, JSON_OPTION, UsageError } from "../../cli/command.js";
import { leaderEntry } from "../../keys/key-entries.js";
import { readKeyFile } from "../../keys/key-file.js";
import { publicKeyText } from "../../keys/key-forms.js";
import { object, printJson } from "../../text/json.js";
import { ENTRY_OPTIONS, jsonText, leaderOf, REVEAL } from "./key-options.js";

export const command = defineCommand({
  options: { ...ENTRY_OPTIONS, reveal: REVEAL, json: JSON_OPTION },
  examples: [
    ["svc-gen keys show leader.key", "prints the public key, for allow-lists"],
    ["svc-gen keys show tool.key --json", "for programs"],
  ],
  run: ({ args: [file], cwd, json, print, complain, values }) => {
    if (file === undefined) throw new UsageError("keys show expects one FILE");
    const { key, text, mode, warnings } = readKeyFile(cwd, file);
    const publicKey = publicKeyText(key);
    const entry = leaderEntry(leaderOf(values), publicKey);
    if (json) {
      print(
        jsonText(
          ["file", file],
          ["public_key", publicKey],
          values.reveal === true && ["private_key", text],
          mode !== undefined && ["mode", mode],
          ["allowed_leaders", entry],
          ["diagnostics", warnings.map((message) => object(["severity", "warning"], ["message", message]))],
        ),
      );
      return EXIT.done;
    }
    print(`public key: ${publicKey}\n`);
    if (values.reveal) print(`private key: ${text}\n`);
    if (mode !== undefined) print(`mode: ${mode}\n`);
    print(`in an allow-list: ${printJson(entry)}\n`);
    for (const warning of warnings) complain(`warning: ${warning}\n`);
    return EXIT.done;
  },
});
