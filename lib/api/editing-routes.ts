import type { Editing } from "../service/service.ts";
import { json } from "./exchange.ts";
import { invalid } from "./given.ts";
import {
  APPLY,
  ASKED,
  ASKED_UNTIL,
  CLUSTER_CHANGE,
  NAMED,
  NAMED_UNTIL,
  NEW_CLUSTER,
  NOTHING,
  PARTITION_INTENT,
  PARTITION_PAGE,
  REASON,
} from "./inputs.ts";
import { type Edge, giving, type Route } from "./route.ts";

/** A request of a function has 6 MB at most, with what stands around its body. */
export const APPLY_BYTES_MAX = 5_000_000;
/** A change of a cluster keeps what was before and what is after, in an item of 400 KB at most. */
const CLUSTER_BYTES_MAX = 128 * 1024;

/** A pause that has ended is no pause. */
const ahead = (untilMs: number | undefined, { clock }: Edge): number | undefined => {
  if (untilMs === undefined || untilMs > clock()) return untilMs;
  throw invalid([{ field: "until", message: `has passed: it is ${new Date(clock()).toISOString()}` }]);
};

/** What can be changed: a route for each verb. */
export const EDITING_ROUTES: Readonly<Record<keyof Editing, Route<Editing>>> = {
  apply: giving(
    "creates or updates autoscalers: checks all documents of all sources, then stores each",
    APPLY,
    async (service, { sources, ...options }) => json({ applied: await service.apply(sources, options) }),
    { mostBytes: APPLY_BYTES_MAX },
  ),
  delete: giving("forgets an autoscaler", ASKED, async (service, asked) => json(await service.delete(asked))),
  pause: giving("holds an autoscaler's workload where it is", ASKED_UNTIL, async (service, { until, ...asked }, edge) =>
    json(await service.pause(asked, ahead(until, edge))),
  ),
  resume: giving("ends a pause", ASKED, async (service, asked) => json(await service.resume(asked))),
  addCluster: giving("connects a cluster", NEW_CLUSTER, async (service, cluster) => json(await service.addCluster(cluster)), {
    mostBytes: CLUSTER_BYTES_MAX,
    connects: () => true,
  }),
  replaceCluster: giving(
    "gives a cluster another connection, period, settings or partitions",
    CLUSTER_CHANGE,
    async (service, cluster) => json(await service.replaceCluster(cluster)),
    { mostBytes: CLUSTER_BYTES_MAX, connects: ({ connection }) => connection !== undefined },
  ),
  pauseCluster: giving("holds every workload of a cluster", NAMED_UNTIL, async (service, { name, until }, edge) =>
    json(await service.pauseCluster(name, ahead(until, edge))),
  ),
  resumeCluster: giving("ends a cluster's pause", NAMED, async (service, { name }) => json(await service.resumeCluster(name))),
  removeCluster: giving("forgets a cluster that has no autoscalers", NAMED, async (service, { name }) => {
    await service.removeCluster(name);
    return json({ name });
  }),
  resetWindows: giving("replaces a windows page that cannot be read", PARTITION_PAGE, async (service, { name, page }) =>
    json(await service.resetWindows(name, page)),
  ),
  resetIntent: giving("settles an open intent that cannot be read", PARTITION_INTENT, async (service, { name, intent }) =>
    json(await service.resetIntent(name, intent)),
  ),
  freeze: giving("holds every workload of every cluster", REASON, async (service, { reason, replace }) =>
    json(await service.freeze(reason, replace)),
  ),
  thaw: giving("ends the freeze", NOTHING, async (service) => json(await service.thaw())),
};
