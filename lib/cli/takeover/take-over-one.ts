import type { KubeconfigApi } from "../../cluster/kubeconfig-api.ts";
import { valueOrThrow } from "../../cluster/kubeconfig-api.ts";
import type { Json } from "../../fields/json.ts";
import { TidemarkError } from "../../model/errors.ts";
import type { Service } from "../../service/service.ts";
import type { AutoscalerView, RivalView } from "../../service/views/autoscaler-view.ts";
import { type RivalSwitch, restorable, switchOf, uidOf } from "./rival-switch.ts";
import { isHeld, type SyncWatch, until, watchSyncs } from "./watch-syncs.ts";

export interface TakeoverPorts extends SyncWatch {
  readonly service: Service;
  readonly api: KubeconfigApi;
}

/** The controller's own status writes change its version; each attempt reads it again. */
const ATTEMPTS_MAX = 5;
const CONFLICT = 409;
const REQUEST_TIMEOUT = 408;
const isRefused = (code: number): boolean => code >= 400 && code < 500 && code !== REQUEST_TIMEOUT;

const failed = (path: string, why: string): TidemarkError => new TidemarkError("cli.takeover", `Cannot take over "${path}": ${why}`, { path });

export const pathOf = ({ cluster, namespace, name }: Pick<AutoscalerView, "cluster" | "namespace" | "name">): string =>
  `${cluster}/${namespace}/${name}`;

/*
 *  look ── keep in history ── rest ── sync ✓ ── sync ✓
 *                               └──── sync ✗ ── pause ── a sync that holds ── go on      nothing fights: a sync that began before the pause may still write
 */

/**
 * Brings the other controller of one autoscaler to rest, and watches the first syncs. Where they cannot read or scale it goes on again. Throws `cli.takeover`; then either nothing was
 * changed, or the message says what was.
 */
export const takeOverOne = async (ports: TakeoverPorts, view: AutoscalerView, { force }: { readonly force: boolean }): Promise<string> => {
  const path = pathOf(view);
  const rival = rivalOf(view, force);
  const switching = switchOf(rival.kind);
  const { syncPeriodSeconds: periodSeconds } = await ports.service.cluster(view.cluster);
  await refuseWithoutRight(ports.api, { view, rival, switching });
  const kept = await bringToRest(ports, { view, rival, switching });
  const query = { cluster: view.cluster, namespace: view.namespace, name: view.name };
  const watched = await watchSyncs(ports, query, { since: view.syncedAt, periodSeconds, rested: rival });
  if (watched.kind === "good") {
    const { currentReplicas, state } = watched.view;
    return `"${path}" taken over at ${currentReplicas} replicas: ${rival.kind} "${rival.name}" ${switching.rested}, state ${state}`;
  }
  // On doubt, the state before. Where no sync comes that holds, none is under way any more either. Syncs that have seen a successor hold because of it.
  await ports.service.handBack({ ...query, rival: kept });
  if (!watched.beside) await until(ports, query, { periodSeconds }, isHeld);
  const again = await switching.goOn(ports.api, kept);
  const back =
    again.kind === "done"
      ? `${rival.kind} "${rival.name}" was ${switching.wentOn}`
      : `${rival.kind} "${rival.name}" could NOT be ${switching.wentOn}: ${again.failure.message}; tidemark changes ${path} -o json has it`;
  throw failed(path, `${watched.why}; the autoscaler was paused, and ${back}`);
};

/** Fails to no switch: what is not seen, not unique, not decided or not agreed is left as it is. */
const rivalOf = (view: AutoscalerView, force: boolean): RivalView & { readonly uid: string } => {
  const path = pathOf(view);
  const { state, rivals = [], currentReplicas, desiredReplicas } = view;
  if (state !== "shadow") throw failed(path, `its state is ${state}, and only one in the state shadow can be taken over`);
  const [rival, ...more] = rivals;
  if (!rival || more.length > 0)
    throw failed(path, `${rivals.length} other controllers scale its workload: ${rivals.map(({ kind, name }) => `${kind} "${name}"`).join(", ")}`);
  const { uid } = rival;
  if (uid === undefined)
    throw failed(
      path,
      `${rival.kind} "${rival.name}" was not listed itself, only its HPA: give Tidemark the right to list it (tidemark cluster rbac)`,
    );
  const missing = view.metrics.find((metric) => metric.kind === "failed");
  if (missing && !force) throw failed(path, `its metric "${missing.name}" cannot be read; mend that first, or give --force`);
  if (!force && rival.kind === "ScaledObject" && currentReplicas === 0)
    throw failed(path, "its workload has 0 replicas, and KEDA alone starts it again: wait until it has, or give --force to keep it at 0");
  if (!force && desiredReplicas !== currentReplicas)
    throw failed(
      path,
      `Tidemark wants ${desiredReplicas} replicas, and there are ${currentReplicas}: the count would move at the switch; wait until both agree, or give --force`,
    );
  return { ...rival, uid };
};

interface Switched {
  readonly view: AutoscalerView;
  readonly rival: RivalView & { readonly uid: string };
  readonly switching: RivalSwitch;
}

/** Fails to no switch: a person who may delete and not create could not be helped back. */
const refuseWithoutRight = async (api: KubeconfigApi, { view, rival, switching }: Switched): Promise<void> => {
  const path = pathOf(view);
  for (const verb of switching.verbs) {
    const mayIt = valueOrThrow(await api.may(verb, switching.path, view.namespace), `ask for your right to ${verb} ${rival.kind} "${rival.name}"`);
    if (!mayIt)
      throw failed(
        path,
        `you may not ${verb} ${switching.path.resource} in namespace "${view.namespace}", which the switch or the way back needs; nothing was changed`,
      );
  }
};

/** Keeps the object in the history and brings it to rest, in exactly the version that was kept. Returns what can be made again. */
const bringToRest = async ({ api, service }: TakeoverPorts, { view, rival, switching }: Switched): Promise<Json> => {
  const path = pathOf(view);
  const { cluster, namespace, name } = view;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const live = valueOrThrow(await switching.get(api, { namespace, name: rival.name }), `read ${rival.kind} "${rival.name}"`);
    // The uid tells one cluster from another, and one object from its successor.
    if (uidOf(live) !== rival.uid)
      throw failed(
        path,
        `${rival.kind} "${rival.name}" of this kubeconfig is another one than Tidemark sees: check that it is the same cluster, or wait for the next sync`,
      );
    // Of an attempt without an answer, most often: what would be kept now could not go on again.
    if (switching.isAtRest(live))
      throw failed(
        path,
        `${rival.kind} "${rival.name}" was ${switching.rested} already, perhaps by an attempt without an answer: wait for the next sync, and look at tidemark get ${path}`,
      );
    const kept = restorable({ kind: rival.kind, ...live });
    await service.takeOver({ cluster, namespace, name, rival: kept });
    const rested = await switching.rest(api, live);
    if (rested.kind === "done") return kept;
    // A conflict changed nothing either. Without an answer, or after a 5xx, it may have been done: then the takeover stays recorded, so that handback finds it.
    if (isRefused(rested.failure.code)) await service.takeOver({ cluster, namespace, name, rival: kept, failed: true });
    if (rested.failure.code !== CONFLICT)
      throw failed(path, `${rival.kind} "${rival.name}" could not be ${switching.rested}: ${rested.failure.message}; look whether it is still there`);
  }
  throw failed(path, `${rival.kind} "${rival.name}" was changed ${ATTEMPTS_MAX} times while it was read; nothing was done`);
};
