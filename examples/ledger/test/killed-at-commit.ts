/** Serves the ledger's tools until the first call: then the process ends as by `kill -9`, before or after the commit. */

import { bootstrap, provideContracts } from "svc-runtime/v1";
import { Deposit } from "../src/deposit.js";
import { contracts } from "../src/generated/contracts.js";
import { Ledger } from "../src/ledger.js";
import { Statement } from "../src/statement.js";
import { Transfer } from "../src/transfer.js";

class KilledLedger extends Ledger {
  protected override commit(): void {
    if (process.argv[2] === "after") super.commit();
    process.kill(process.pid, "SIGKILL");
  }
}

class KilledTransfer extends Transfer {
  static override create() {
    KilledTransfer.share((path) => new KilledLedger(path));
  }
}

provideContracts(contracts);
bootstrap([KilledTransfer, Deposit, Statement]);
