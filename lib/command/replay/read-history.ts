import { wholeHistory } from "../../answers/service/history/history.ts";
import type { Service } from "../../answers/service/service.ts";
import type { AutoscalerView } from "../../answers/views/autoscaler.ts";
import type { ChangeView } from "../../answers/views/change.ts";
import type { EventView } from "../../answers/views/event.ts";
import type { Recorded, SpecFrom } from "../../replay/recorded.ts";
import { specOf } from "../../rules/manifest/admit.ts";
import type { ControllerSettings } from "../../rules/model/spec-common.ts";
import { DAY_MS, readDay, SECOND_MS } from "../../rules/model/time-text.ts";
import type { NamedAutoscalerOfKind } from "../select/selected-names.ts";
import { queryFor } from "../select/selected-names.ts";
import { usage } from "../usage-error.ts";

/** An autoscaler with what history holds of it. */
export interface ReadHistory {
  readonly view: AutoscalerView;
  readonly settings: ControllerSettings;
  readonly recorded: Recorded;
}

/** The step of a read: one evaluation each, for every sync period that people use. */
const STEP_MS = 5 * SECOND_MS;
/** How far back the manifest of then may have been applied. */
const CHANGES_MS = 396 * DAY_MS;

/** Reads everything that a replay of an autoscaler needs, through the service. */
export const readReplayed = async (
  service: Service,
  resource: NamedAutoscalerOfKind,
  { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
): Promise<ReadHistory> => {
  const query = await queryFor(service, resource);
  const view = await service.get(query);
  const [history, events, changes, clusters, calendars] = await Promise.all([
    wholeHistory(service, { ...query, sinceMs, untilMs, stepMs: STEP_MS }),
    Array.fromAsync(service.events({ ...query, sinceMs, untilMs })),
    Array.fromAsync(service.changes({ ...query, sinceMs: Math.max(0, untilMs - CHANGES_MS) })),
    Array.fromAsync(service.clusters()),
    service.calendars(),
  ]);
  const cluster = clusters.find(({ name }) => name === view.cluster);
  const samples = history.points.map(({ at, ...point }) => ({ ...point, atMs: Date.parse(at) }));
  if (!cluster || samples.length === 0)
    throw usage(
      `Cannot replay "${view.namespace}/${view.name}": nothing is recorded of this time; give a later --since, or a load with --trace`,
    );
  const { settings, syncPeriodSeconds } = cluster;
  return {
    view,
    settings: {
      tolerance: settings.tolerance,
      downscaleStabilizationMs: settings.downscaleStabilizationSeconds * SECOND_MS,
      cpuInitializationPeriodMs: settings.cpuInitializationPeriodSeconds * SECOND_MS,
      initialReadinessDelayMs: settings.initialReadinessDelaySeconds * SECOND_MS,
      ...(settings.hpaVersion && { hpaVersion: settings.hpaVersion }),
    },
    recorded: {
      samples,
      specs: specsOf(view, changes, samples),
      scales: events.flatMap(scaleOf),
      calendars: calendars.map(({ name, dates }) => ({
        name,
        days: dates.flatMap((date) => readDay(date) ?? []),
      })),
      periodMs: syncPeriodSeconds * SECOND_MS,
      untilMs,
    },
  };
};

/** A scale with an unknown outcome counts as made, as everywhere. */
const scaleOf = ({ settledAt, to, outcome }: EventView): Recorded["scales"] =>
  outcome === "refused"
    ? []
    : [{ atMs: Date.parse(settledAt), to, isOutside: outcome === "outside" }];

/**
 * The manifests by generation, each from the first sample that was decided by it. Where no edit up
 * to a generation is known any more, the manifest of now is taken.
 */
const specsOf = (
  { manifest, generation, namespace, name }: AutoscalerView,
  changes: readonly ChangeView[],
  samples: Recorded["samples"],
): Recorded["specs"] => {
  const manifests = new Map<number, unknown>([[generation, manifest]]);
  for (const change of changes)
    if (change.after !== undefined && change.made !== false)
      manifests.set(change.generation, change.after);
  const specs: SpecFrom[] = [];
  let before: number | undefined;
  for (const { atMs, generation: own = generation } of samples) {
    if (own === before) continue;
    before = own;
    const document = manifestOf(manifests, own) ?? manifest;
    const spec = specOf(JSON.stringify(document), `${namespace}/${name}`);
    specs.push({ fromMs: atMs, spec });
  }
  const [first = { fromMs: 0, spec: specOf(JSON.stringify(manifest), name) }, ...others] = specs;
  return [first, ...others];
};

/** A pause raises the generation and leaves the manifest as it was. */
const manifestOf = (manifests: ReadonlyMap<number, unknown>, generation: number): unknown => {
  const known = [...manifests.keys()].filter((each) => each <= generation);
  return manifests.get(known.length === 0 ? generation : Math.max(...known));
};
