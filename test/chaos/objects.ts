import { setTimeout as wait } from "node:timers/promises";
import { podAutoscalerDefinition } from "../../lib/rules/manifest/crd/definition.ts";
import { autoscalerName, clusterName, namespace } from "../../lib/rules/model/ids.ts";
import { getAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import type { App } from "../control-plane/fill.ts";
import type { ControlPlane } from "../control-plane/start.ts";
import { FROM_OBJECTS, podAutoscalerOf } from "./setting.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROUP = "/apis/tidemark.dev/v1";
const MERGE = "application/merge-patch+json";
const LOOK_AGAIN_MS = 100;
const SERVED_MAX_MS = 20_000;

type Plane = Pick<ControlPlane, "call">;

const pathOf = ({ namespace: inside }: App): string =>
  `${GROUP}/namespaces/${inside}/podautoscalers`;

const must = async (
  { call }: Plane,
  method: string,
  path: string,
  body: object,
  type?: string,
): Promise<void> => {
  const { status, body: answer } = await call(method, path, body, type);
  if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${answer}`);
};

/** Installs the kind, waits until it is served, and makes an object for each workload. */
export const makeObjects = async (plane: Plane, apps: readonly App[]): Promise<void> => {
  await must(plane, "POST", DEFINITIONS, podAutoscalerDefinition());
  const untilMs = Date.now() + SERVED_MAX_MS;
  while ((await plane.call("GET", `${GROUP}/podautoscalers`)).status !== 200) {
    if (Date.now() > untilMs)
      throw new Error(`the kind PodAutoscaler is not served after ${SERVED_MAX_MS / 1_000} s`);
    await wait(LOOK_AGAIN_MS);
  }
  for (const app of apps) await must(plane, "POST", pathOf(app), podAutoscalerOf(app));
};

/**
 * Edits a field of one object that no decision goes by: its generation rises, and its record is
 * stored anew.
 */
export const editObject = async (plane: Plane, apps: readonly App[]): Promise<void> => {
  const app = apps[Math.floor(Math.random() * apps.length)];
  if (app)
    await must(
      plane,
      "PATCH",
      `${pathOf(app)}/${app.name}`,
      { spec: { owner: `team-${Date.now() % 1_000}` } },
      MERGE,
    );
};

/** The objects whose record is not the copy of their last edit. */
export const recordsBehind = async (
  plane: Plane,
  tables: Tables,
  apps: readonly App[],
): Promise<readonly string[]> => {
  const behind: string[] = [];
  for (const app of apps) {
    const { body } = await plane.call("GET", `${pathOf(app)}/${app.name}`);
    const { metadata } = JSON.parse(body) as { readonly metadata: { readonly generation: number } };
    const ref = {
      cluster: clusterName(FROM_OBJECTS),
      namespace: namespace(app.namespace),
      name: autoscalerName(app.name),
    };
    const stored = (await getAutoscaler(tables, ref))?.origin?.generation;
    if (stored !== metadata.generation)
      behind.push(
        `${app.namespace}/${app.name}: the record is of generation ${stored ?? "none"}, and the object has ${metadata.generation}`,
      );
  }
  return behind;
};
