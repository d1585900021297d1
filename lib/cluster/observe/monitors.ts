import type { Namespace } from "../../model/ids.ts";
import type { MonitorReading } from "../../model/observation.ts";
import { asName, asObject, asText } from "../../model/read/json.ts";
import type { Watched } from "../cluster-client.ts";
import { list, passedOverFailure } from "../list.ts";
import { inNamespace } from "../paths.ts";
import { scopesFor } from "./scopes.ts";
import type { Observing } from "./workloads.ts";

const GROUP = "datadoghq.com/v1alpha1";
const RESOURCE = "datadogmonitors.datadoghq.com";

/** The monitors by `monitorKey`, for the autoscalers that name one (watermark.md 2.2). A missing entry means that the object does not exist. */
export type Monitors = (watched: Watched) => MonitorReading | undefined;

/** Sends one LIST for each scope with an autoscaler that names a monitor. Fails to a hold: a monitor that cannot be read stops its autoscaler, like one that is not OK. */
export const observeMonitors = async (observing: Observing, watched: readonly Watched[]): Promise<Monitors> => {
  const asking = watched.filter(({ asksMonitor }) => asksMonitor);
  const monitors = new Map<string, MonitorReading>();
  const failed = new Map<string, MonitorReading>();
  await Promise.all(
    scopesFor(new Set(asking.map(({ namespace }) => namespace)), observing.limits).map(async ({ namespace }) => {
      const answer = await list<readonly [string, MonitorReading]>(
        observing.session.transport,
        {
          path: `/apis/${GROUP}${inNamespace(namespace)}/datadogmonitors`,
          resource: RESOURCE,
          light: true,
          read: (raw) => {
            const { name, namespace: of } = asObject(raw["metadata"]);
            return [key(asText(of) as Namespace, asText(name)), readingOf(asName(asObject(raw["status"])["monitorState"]))];
          },
          onPage: (readings) => {
            for (const [monitor, reading] of readings) monitors.set(monitor, reading);
          },
        },
        observing.budget,
      );
      if (answer.kind === "listed")
        for (const object of answer.passedOver)
          monitors.set(key(object.namespace as Namespace, object.name), { kind: "failed", failure: passedOverFailure(RESOURCE, object) });
      // In a cluster without the API of monitors (404) the monitor does not exist. After any other failure it is unknown.
      if (answer.kind === "failed" && answer.failure.code !== 404) failed.set(namespace ?? "", { kind: "failed", failure: answer.failure });
    }),
  );
  return ({ asksMonitor, namespace, name }) => {
    if (!asksMonitor) return undefined;
    return failed.get(namespace) ?? failed.get("") ?? monitors.get(key(namespace, name)) ?? { kind: "missing" };
  };
};

const readingOf = (state: string): MonitorReading => ({ kind: "found", ...(state !== "" && { state }) });

const key = (namespace: Namespace, name: string): string => `${namespace}/${name}`;
