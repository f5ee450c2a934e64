/** `svc-gen keys rotate FILE`: creates the next key next to the old one, and lists the steps that follow. */

import { defineCommand, EXIT, JSON_OPTION, UsageError } from "../../cli/command.js";
import { shellWord } from "../../compile/diagnostics/quote.js";
import { object } from "../../json.js";
import { ENTRY_OPTIONS, jsonText, leaderOf, REVEAL, toolOf, withKeys } from "./key-options.js";

export const keysRotateCommand = defineCommand({
  name: "keys rotate",
  arguments: "FILE [NEWFILE]",
  summary: "write the next private key to a new file and print the steps of the rotation",
  details: `The next key is written to NEWFILE (default: FILE with "next" in its name, such as leader.next.key). Keep FILE: both keys are
needed until the last step. Use --leader-id or --key-id for a leader's key and --tool for a tool's key; otherwise the steps for
both are printed.`,
  options: { ...ENTRY_OPTIONS, reveal: REVEAL, json: JSON_OPTION },
  examples: [
    ["svc-gen keys rotate leader.key --leader-id alice --key-id 1", "1 must be a key ID that alice has never used"],
    ["svc-gen keys rotate tool.key --json", "for programs"],
  ],
  run: (call) =>
    withKeys((keys) => {
      const { args, cwd, json, values } = call;
      const [file, given, ...more] = args;
      if (file === undefined || more.length > 0) {
        throw new UsageError(`keys rotate expects FILE and at most one NEWFILE; got ${args.length}`);
      }
      const [leader, tool] = [leaderOf(values, 1n), toolOf(call)];
      const oldKey = keys.publicKeyText(keys.readKeyFile(cwd, file).key);
      const { text, publicKey } = keys.newKey();
      const target = given ?? keys.besideName(file, "next");
      keys.writeKeyFile(cwd, target, text);
      const forLeader = values["leader-id"] !== undefined || values["key-id"] !== undefined;
      const forTool = values.tool !== undefined;
      const all = keys.rotationSteps({
        leader,
        tool,
        file,
        target,
        publicKey,
        text: values.reveal ? text : undefined,
      });
      const steps = {
        leader: (forLeader || !forTool) && all.leader,
        tool: (forTool || !forLeader) && all.tool,
      };
      if (json) {
        call.print(
          jsonText(
            ["file", target],
            ["public_key", publicKey],
            values.reveal === true && ["private_key", text],
            ["old_file", file],
            ["old_public_key", oldKey],
            ["key", keys.keyEntry(leader.kid, publicKey)],
            ["steps", object(steps.leader && ["leader", steps.leader], steps.tool && ["tool", steps.tool])],
          ),
        );
        return EXIT.done;
      }
      const list = (title: string, each: readonly string[] | false) =>
        each ? `\n${title}:\n${each.map((step, i) => `  ${i + 1}. ${step}\n`).join("")}` : "";
      call.print(`wrote ${shellWord(target)}, which only you can read: the next private key
${values.reveal ? `private key: ${text}\n` : ""}public key: ${publicKey}
old public key: ${oldKey}
${list("The key of a leader", steps.leader)}${list(steps.leader ? "Or the key of a tool" : "The key of a tool", steps.tool)}`);
      return EXIT.done;
    }),
});
