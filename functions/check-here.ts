import { checkConnection } from "../lib/cluster/check/check-connection.ts";
import type { ConnectionReport } from "../lib/cluster/check/report.ts";
import { checkIn } from "./check-event.ts";
import { environmentOf, externalIdIn } from "./environment.ts";

/** Looks at a cluster. It uses nothing of a sync: credentials and connections are opened anew, so that the answer is not what a warm client remembers. */
export const checkHere = (event: { readonly check: unknown }): Promise<ConnectionReport> =>
  checkConnection(checkIn(event), { clock: Date.now, ...externalIdIn(environmentOf(["TIDEMARK_EXTERNAL_ID"])) });
