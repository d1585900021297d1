import type { Namespace } from "../../../rules/model/ids.ts";
import type { ApiFailure, MonitorReading } from "../../../rules/model/observation.ts";
import { asName, asObject, asText } from "../../../rules/model/json.ts";
import type { Watched } from "../cluster-client.ts";
import { type KindPath, listPath } from "../discovery.ts";
import { passedOverFailure } from "../list.ts";
import type { CallBudget } from "../transport/budget.ts";
import { lateLists, listScope, covers, type Scope, scopesFor } from "./scopes.ts";
import type { Observing } from "./workloads.ts";
import { NOT_FOUND } from "../../../rules/model/http-status.ts";

const MONITORS: KindPath = {
  base: "/apis/datadoghq.com/v1alpha1",
  plural: "datadogmonitors",
  resource: "datadogmonitors.datadoghq.com",
};

export interface Monitors {
  /** The monitor of an autoscaler that names one (watermark.md 2.2). */
  readonly of: (watched: Watched) => MonitorReading | undefined;
  /** False where the namespace has a LIST of its own that is not read yet (scopes.ts). */
  readonly areRead: (namespace: Namespace) => boolean;
}

/**
 * Sends one LIST for each scope with an autoscaler that names a monitor. On doubt, hold: a monitor
 * that cannot be read stops its autoscaler, as one does that is not OK. Monitors belong to the
 * tenants, so a heavy namespace is read after all others were decided.
 */
export const observeMonitors = async (
  observing: Observing,
  watched: readonly Watched[],
): Promise<Monitors> => {
  const namespaces = new Set(
    watched.flatMap(({ asksMonitor, namespace }) => (asksMonitor ? [namespace] : [])),
  );
  const late = lateLists(observing.calls);
  const monitors = new Map<string, MonitorReading>();
  const failed: { readonly scope: Scope; readonly failure: ApiFailure }[] = [];
  const read = async (scope: Scope, budget: CallBudget): Promise<void> => {
    const { listed, ...whole } = await listMonitors(observing, scope, budget);
    readLate(whole.heavy);
    if (listed.kind === "listed") {
      for (const [key, reading] of listed.items) monitors.set(key, reading);
      for (const object of listed.passedOver)
        monitors.set(keyOf(object.namespace as Namespace, object.name), {
          kind: "failed",
          failure: passedOverFailure(MONITORS.resource, object),
        });
      // On 404 the cluster has no API of monitors: none exists. After any other failure the
      // monitors are unknown.
    } else if (listed.failure.code !== NOT_FOUND)
      failed.push({ scope: whole.scope, failure: listed.failure });
  };
  const readLate = (heavy: readonly Scope[]): void => {
    for (const scope of heavy)
      if (scope.namespace !== undefined && namespaces.has(scope.namespace))
        late.add(scope.namespace, (budget) => read(scope, budget));
  };
  const heavyBefore = observing.memory.heavy.of(listPath(MONITORS));
  const scopes = scopesFor(namespaces, observing.limits, heavyBefore);
  readLate(scopes.filter(({ isHeavy }) => isHeavy));
  await Promise.all(
    scopes.filter(({ isHeavy }) => !isHeavy).map((scope) => read(scope, observing.budget)),
  );
  const of: Monitors["of"] = ({ asksMonitor, namespace, name }) => {
    if (!asksMonitor) return undefined;
    const failure = failed.find(({ scope }) => covers(scope, namespace))?.failure;
    return failure
      ? { kind: "failed", failure }
      : (monitors.get(keyOf(namespace, name)) ?? { kind: "missing" });
  };
  return { of, areRead: late.areRead };
};

const listMonitors = (observing: Observing, scope: Scope, budget: CallBudget) =>
  listScope<readonly [string, MonitorReading]>(
    observing,
    { whole: listPath(MONITORS), scope },
    {
      path: listPath(MONITORS, scope.namespace),
      resource: MONITORS.resource,
      light: true,
      read: (raw) => {
        const { name, namespace } = asObject(raw["metadata"]);
        return [
          keyOf(asText(namespace) as Namespace, asText(name)),
          readingOf(asName(asObject(raw["status"])["monitorState"])),
        ];
      },
    },
    budget,
  );

const readingOf = (state: string): MonitorReading => ({
  kind: "found",
  ...(state !== "" && { state }),
});

const keyOf = (namespace: Namespace, name: string): string => `${namespace}/${name}`;
