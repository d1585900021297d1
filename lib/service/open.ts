import { apply } from "./apply/apply.ts";
import { autoscalers, known } from "./autoscalers.ts";
import { changes } from "./changes.ts";
import { addCluster, cluster, clusters, pauseCluster, replaceCluster, resumeCluster } from "./clusters/clusters.ts";
import { fleet, freeze, thaw } from "./clusters/fleet.ts";
import type { Desk, ReadingDesk } from "./context.ts";
import { pause, remove, resume } from "./edits/autoscaler-edits.ts";
import { removeCluster } from "./edits/removal.ts";
import { events } from "./events.ts";
import { describe } from "./explain/describe.ts";
import { explain } from "./explain/explain.ts";
import { findAutoscaler } from "./find.ts";
import { partition } from "./partitions/partition-query.ts";
import { resetIntent } from "./partitions/reset-intent.ts";
import { resetWindows } from "./partitions/reset-windows.ts";
import { seriesReader } from "./series/series.ts";
import type { Editing, Reading, Service } from "./service.ts";
import { autoscalerView } from "./views/autoscaler-of.ts";

/** The service over a pair of tables. */
export const openService = (desk: Desk): Service => ({ ...openReading(desk), ...openEditing(desk) });

/** What can be looked at; it writes nothing, and remembers between calls what series need of the history. */
export const openReading = (desk: ReadingDesk): Reading => ({
  autoscalers: (filter, after) => autoscalers(desk, filter, after),
  get: async (asked) => autoscalerView(await known(desk, await findAutoscaler(desk, asked))),
  describe: (asked) => describe(desk, asked),
  explain: (asked, atMs) => explain(desk, asked, atMs),
  events: (query) => events(desk, query),
  changes: (query) => changes(desk, query),
  series: seriesReader(desk),

  clusters: (after) => clusters(desk, after),
  cluster: (name) => cluster(desk, name),
  partition: (path) => partition(desk, path),
  fleet: () => fleet(desk),
});

/** What can be changed, recorded for the desk's person. */
export const openEditing = (desk: Desk): Editing => ({
  apply: (sources, options) => apply(desk, sources, options),
  delete: (asked) => remove(desk, asked),
  pause: (asked, untilMs) => pause(desk, asked, untilMs),
  resume: (asked) => resume(desk, asked),

  addCluster: (wanted) => addCluster(desk, wanted),
  replaceCluster: (wanted) => replaceCluster(desk, wanted),
  pauseCluster: (name, untilMs) => pauseCluster(desk, name, untilMs),
  resumeCluster: (name) => resumeCluster(desk, name),
  removeCluster: (name) => removeCluster(desk, name),
  resetWindows: (path, page) => resetWindows(desk, path, page),
  resetIntent: (path, id) => resetIntent(desk, path, id),

  freeze: (reason, replace) => freeze(desk, reason, replace),
  thaw: () => thaw(desk),
});
