import { bootstrap, provideContracts } from "svc-runtime/v1";
import { Sum } from "../sum.js";
import { contracts } from "./contracts.js";

provideContracts(contracts);
void bootstrap(Sum);
