import { apply } from "./apply.ts";
import { autoscalerView } from "./autoscaler-view.ts";
import { autoscalers, known } from "./autoscalers.ts";
import { changes } from "./changes.ts";
import { addCluster, cluster, clusters, pauseCluster, replaceCluster, resumeCluster } from "./clusters.ts";
import { describe } from "./describe.ts";
import type { Desk, ReadingDesk } from "./desk.ts";
import { pause, remove, resume } from "./edits.ts";
import { events } from "./events.ts";
import { explain } from "./explain.ts";
import { findAutoscaler } from "./find.ts";
import { fleet, freeze, thaw } from "./fleet.ts";
import { partition } from "./partition.ts";
import { removeCluster } from "./removal.ts";
import { resetIntent } from "./reset-intent.ts";
import { resetWindows } from "./reset-windows.ts";
import { seriesReader } from "./series.ts";
import type { Editing, Reading, Service } from "./service.ts";

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
