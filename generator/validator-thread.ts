/** The thread that writes validators ahead (ahead.ts): a schema comes in, its code goes out. */

import { type MessagePort, workerData } from "node:worker_threads";
import type { AnySchemaObject } from "ajv";
import { type ValidatorCode, ValidatorWriter } from "./validator-code.js";

const { port, answered } = workerData as { port: MessagePort; answered: Int32Array };
const writer = new ValidatorWriter();

port.on("message", (schema: AnySchemaObject) => {
  port.postMessage(codeOf(schema));
  Atomics.add(answered, 0, 1);
  Atomics.notify(answered, 0);
});

/** Nothing when it cannot be written: who asked for it finds out why. */
function codeOf(schema: AnySchemaObject): ValidatorCode | undefined {
  try {
    return writer.write(schema);
  } catch {
    return undefined;
  }
}
