import { valueOrThrow } from "../../stack/cluster/kubeconfig-api.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { isObject, type Json } from "../../rules/model/json.ts";
import type { AutoscalerQuery, Service } from "../../answers/service/service.ts";
import type { AutoscalerView } from "../../answers/views/autoscaler.ts";
import { refOf, switchOf } from "./rival-switch.ts";
import {
  pathOfTarget,
  refuseWithoutRight,
  type SwitchFault,
  type TakeoverPorts,
} from "./take-over-one.ts";
import { isHeldByPause, until } from "./watch-syncs.ts";

const fault = (path: string, why: string, kind: SwitchFault): TidemarkError =>
  new TidemarkError("cli.handback", `Cannot hand back "${path}": ${why}`, { path, kind });

/*
 *  may it go on? ── pause ── a sync that holds ── go on ── seen as shadow ── resume
 *    └─ ✗ nothing was changed   └─ ✗ paused          └─ ✗ paused: the count stays
 */

/**
 * Gives one workload back to the controller that it was taken from: pauses the autoscaler, waits
 * for a sync that holds, makes the controller's object go on, and resumes the autoscaler when a
 * sync has seen it beside. So two never write, and nothing shrinks in between: a new HPA begins
 * with the present count. Throws `cli.handback`.
 */
export const handBackOne = async (ports: TakeoverPorts, view: AutoscalerView): Promise<string> => {
  const path = pathOfTarget(view);
  const { cluster, namespace, name } = view;
  const query = { cluster, namespace, name };
  if (view.rivals !== undefined)
    throw fault(path, "another controller scales its workload already", "refused");
  const kept = await newestKept(ports.service, query, path);
  const { syncPeriodSeconds: periodSeconds } = await ports.service.cluster(cluster);
  const kind = String(kept["kind"]);
  const { name: rival } = refOf(kept);
  const switching = switchOf(kind);
  await refuseWithoutRight(
    ports.api,
    { view, rival: { kind, name: rival }, switching },
    ["goOn"],
    (at, why) => fault(at, why, "refused"),
  );
  await ports.service.handBack({ ...query, rival: kept });
  const held = await until(ports, query, periodSeconds, isHeldByPause);
  if (!held)
    throw fault(
      path,
      "no sync came in time that held it; it stays paused, and nothing else was changed",
      "failed",
    );
  const { goOn, wentOn } = switching;
  const done = `${kind} "${rival}" ${wentOn}`;
  valueOrThrow(
    await goOn(ports.api, kept),
    `hand back "${path}": it stays paused, and ${kind} "${rival}" was not ${wentOn}`,
  );
  await ports.switched?.(`"${path}": ${done}; the next sync should see it`);
  const seen = await until(ports, query, periodSeconds, ({ rivals }) => rivals !== undefined);
  const words = `"${path}" handed back: ${done}`;
  // On doubt, pause: resumed beside a controller that no sync has seen, both would write.
  if (!seen)
    return `${words}; no sync has seen it yet, so the autoscaler stays paused: tidemark resume ${path}`;
  await ports.service.resume(query);
  return `${words}, and the autoscaler is in its shadow`;
};

/** The object that the newest takeover has kept. */
const newestKept = async (
  service: Service,
  query: AutoscalerQuery,
  path: string,
): Promise<Json> => {
  let kept: unknown;
  for await (const { verb, rival } of service.changes(query)) if (verb === "takeover") kept = rival;
  if (isObject(kept)) return kept;
  throw fault(
    path,
    "its history has no takeover; make the object of the other controller by kubectl, after tidemark pause",
    "refused",
  );
};
