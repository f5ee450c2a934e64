/** `svc-gen keys convert FILE --to FORM`: prints a key in another text format. */

import { didYouMean } from "svc-runtime/internal/generator";
import { defineCommand, EXIT, JSON_OPTION, UsageError } from "../../cli/command.js";
import { quoted, shellWord } from "../../compile/diagnostics/quote.js";
import { jsonText, withKeys } from "./key-options.js";

export const keysConvertCommand = defineCommand({
  name: "keys convert",
  arguments: "FILE [NEWFILE]",
  summary: "write the same private key in another format",
  details: `The key is written to the new file NEWFILE (default: FILE with the format in its name, such as leader.base64.key), which only
you can read. With --reveal it is printed instead. Formats, all of which a configuration accepts: hex, 0x-hex, base64, base64url,
and each with a leading zero byte (flagged-hex and so on).`,
  options: {
    to: { type: "string", value: "FORM", summary: "the format" },
    reveal: { type: "boolean", summary: "print the private key instead of writing a file" },
    json: JSON_OPTION,
  },
  examples: [
    ["svc-gen keys convert leader.key --to base64", "writes leader.base64.key"],
    ["svc-gen keys convert leader.key --to hex --reveal", "prints the private key"],
  ],
  run: (call) =>
    withKeys((keys) => {
      const { args, cwd, values } = call;
      const [file, given, ...more] = args;
      if (file === undefined || more.length > 0) {
        throw new UsageError(`keys convert expects FILE and at most one NEWFILE; got ${args.length}`);
      }
      const names = keys.KEY_FORMS.map(({ name }) => name);
      if (values.to === undefined) throw new UsageError(`keys convert expects --to FORM: ${names.join(", ")}`);
      const form = keys.KEY_FORMS.find(({ name }) => name === values.to);
      if (form === undefined) {
        const near = didYouMean(values.to, names) || `; there is ${names.join(", ")}`;
        throw new UsageError(`unknown form ${quoted(values.to)}${near}`);
      }
      if (values.reveal && given !== undefined) throw new UsageError("--reveal and NEWFILE exclude each other");
      const { key } = keys.readKeyFile(cwd, file);
      const text = form.print(key);
      const publicKey = keys.publicKeyText(key);
      const target = given ?? keys.besideName(file, form.name);
      if (!values.reveal) keys.writeKeyFile(cwd, target, text);
      if (call.json) {
        call.print(
          jsonText(
            values.reveal ? ["private_key", text] : ["file", target],
            ["public_key", publicKey],
            ["form", form.name],
          ),
        );
      } else if (values.reveal) call.print(`${text}\n`);
      else call.print(`wrote ${shellWord(target)}, which only you can read: ${form.summary}\n`);
      return EXIT.done;
    }),
});
