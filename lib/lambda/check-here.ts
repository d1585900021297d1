import { checkConnection } from "../stack/cluster/check/check-connection.ts";
import type { ConnectionReport } from "../stack/cluster/check/report.ts";
import { askOnce } from "../stack/source-client/check-source.ts";
import { checkIn } from "./check-event.ts";
import { environmentOf, externalIdIn } from "./environment.ts";
import { checkedSourceIn } from "./source-event.ts";

/** A cluster to look at, or a metric source to ask. */
export type CheckEvent = { readonly check: unknown } | { readonly checkSource: unknown };

/**
 * Looks at a cluster, or asks a source. It uses nothing of a sync: credentials and connections are
 * opened anew, so that the answer is not what a warm client remembers.
 */
export const checkHere = (event: CheckEvent): Promise<ConnectionReport> => {
  const options = { clock: Date.now, ...externalIdIn(environmentOf(["TIDEMARK_EXTERNAL_ID"])) };
  return "checkSource" in event
    ? askOnce(checkedSourceIn(event), { ...options, ownAddresses: false })
    : checkConnection(checkIn(event), options);
};
