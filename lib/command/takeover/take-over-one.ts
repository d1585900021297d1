import { isDeepStrictEqual } from "node:util";
import { type KubeconfigApi, valueOrThrow } from "../../stack/cluster/kubeconfig-api.ts";
import { isTidemarkError, TidemarkError } from "../../rules/model/errors.ts";
import { isObject, type Json } from "../../rules/model/json.ts";
import type { Service } from "../../answers/service/service.ts";
import type { AutoscalerView, RivalView } from "../../answers/views/autoscaler.ts";
import { ATTEMPTS_MAX, type RivalSwitch, restorable, switchOf, rivalUid } from "./rival-switch.ts";
import { isHeldByPause, SYNCS_NEEDED, type SyncWatch, until, watchSyncs } from "./watch-syncs.ts";
import { NOT_FOUND, CONFLICT } from "../../rules/model/http-status.ts";

export interface TakeoverPorts extends SyncWatch {
  readonly service: Service;
  readonly api: KubeconfigApi;
  /**
   * Gets a line at the instant of each switch, before the syncs after it are watched: who ends the
   * command then knows what it has done.
   */
  readonly switched?: (line: string) => Promise<unknown>;
}

/**
 * `refused`: nothing was changed. `unseen`: nothing was changed, because the other controller is at
 * rest or gone already, and no sync has seen that yet. `failed`: the other controller was brought
 * to rest, or may have been.
 */
export type SwitchFault = "refused" | "unseen" | "failed";

const REQUEST_TIMEOUT = 408;
const faultOf = (code: number): SwitchFault => (isRefused(code) ? "refused" : "failed");
const isRefused = (code: number): boolean => code >= 400 && code < 500 && code !== REQUEST_TIMEOUT;

const fault = (path: string, why: string, kind: SwitchFault): TidemarkError =>
  new TidemarkError("cli.takeover", `Cannot take over "${path}": ${why}`, { path, kind });
const refused = (path: string, why: string): TidemarkError => fault(path, why, "refused");
const unseen = (path: string, why: string): TidemarkError => fault(path, why, "unseen");

export const pathOfTarget = ({
  cluster,
  namespace,
  name,
}: Pick<AutoscalerView, "cluster" | "namespace" | "name">): string =>
  `${cluster}/${namespace}/${name}`;

/*
 *  look ── keep in history ── rest ── sync ✓ ── sync ✓
 *                               └──── sync ✗ ── pause ── a sync that holds ── go on
 *         nothing fights: a sync that began before the pause may still write
 */

/**
 * Brings the other controller of one autoscaler to rest, and watches the first syncs. Where they
 * cannot read or scale it goes on again. Throws `cli.takeover`; then either nothing was changed, or
 * the message says what was.
 */
export const takeOverOne = async (
  ports: TakeoverPorts,
  view: AutoscalerView,
  { force }: { readonly force: boolean },
): Promise<string> => {
  const path = pathOfTarget(view);
  const { state } = view;
  // An earlier call has switched it, and died before it said so.
  if ((state === "active" || state === "limited") && (await isTakenOver(ports.service, view)))
    return `"${path}" was taken over already, state ${state}`;
  const rival = rivalOf(view, force);
  const switching = switchOf(rival.kind);
  const [periodSeconds, kept] = await unchangedOnError(path, async () => {
    const { syncPeriodSeconds } = await ports.service.cluster(view.cluster);
    await refuseWithoutRight(ports.api, { view, rival, switching }, ["rest", "goOn"], refused);
    return [syncPeriodSeconds, await bringToRest(ports, { view, rival, switching })];
  });
  await ports.switched?.(
    `"${path}": ${rival.kind} "${rival.name}" ${switching.rested}; the next ${SYNCS_NEEDED} syncs are watched`,
  );
  const query = { cluster: view.cluster, namespace: view.namespace, name: view.name };
  const watched = await watchSyncs(ports, query, {
    since: view.syncedAt,
    periodSeconds,
    rested: rival,
  });
  if (watched.kind === "good") {
    const { currentReplicas, state: now } = watched.view;
    return `"${path}" taken over at ${currentReplicas} replicas: ${rival.kind} "${rival.name}" ${switching.rested}, state ${now}`;
  }
  // On doubt, the state before. Where no sync comes that holds, none is under way any more either.
  // Syncs that have seen a successor hold because of it.
  await ports.service.handBack({ ...query, rival: kept });
  if (!watched.beside) await until(ports, query, periodSeconds, isHeldByPause);
  const again = await switching.goOn(ports.api, kept);
  const back =
    again.kind === "done"
      ? `${rival.kind} "${rival.name}" was ${switching.wentOn}`
      : `${rival.kind} "${rival.name}" could NOT be ${switching.wentOn}: ${again.failure.message}; tidemark changes ${path} -o json has it`;
  throw fault(path, `${watched.why}; the autoscaler was paused, and ${back}`, "failed");
};

/**
 * On doubt, no switch: what is not seen, not unique, not decided or not agreed is left as it is.
 */
const rivalOf = (view: AutoscalerView, force: boolean): RivalView & { readonly uid: string } => {
  const path = pathOfTarget(view);
  const { state, rivals = [] } = view;
  if (state !== "shadow")
    throw refused(
      path,
      `its state is ${state}, and only one in the state shadow can be taken over`,
    );
  const [rival, ...more] = rivals;
  if (!rival || more.length > 0)
    throw refused(
      path,
      `${rivals.length} other controllers scale its workload: ${rivals.map(({ kind, name }) => `${kind} "${name}"`).join(", ")}`,
    );
  const { uid } = rival;
  if (uid === undefined)
    throw refused(
      path,
      `${rival.kind} "${rival.name}" was not listed itself, only its HPA: give Tidemark the right to list it (tidemark cluster rbac)`,
    );
  const unready = force ? undefined : waitsFor(view);
  if (unready !== undefined)
    throw refused(
      path,
      `${unready}; give --wait, so that the command waits until it can be taken over, or --force`,
    );
  return { ...rival, uid };
};

/**
 * Why it cannot be taken over yet, though it will be as its load moves; undefined where it can.
 * Only for one in the state `shadow`.
 */
export const waitsFor = (view: AutoscalerView): string | undefined => {
  const { state, metrics, rivals = [], currentReplicas, desiredReplicas } = view;
  if (state !== "shadow") return undefined;
  const missing = metrics.find((metric) => metric.kind === "failed");
  if (missing) return `its metric "${missing.name}" cannot be read`;
  if (
    currentReplicas === 0 &&
    !wakesItself(view) &&
    rivals.some(({ kind }) => kind === "ScaledObject")
  )
    return "its workload has 0 replicas, and only KEDA starts it again";
  if (desiredReplicas === currentReplicas) return undefined;
  return `Tidemark wants ${desiredReplicas} replicas, and there are ${currentReplicas}: the count would move at the switch`;
};

/**
 * Only an autoscaler with `idle` starts a workload that has no pods. No form but a PodAutoscaler
 * with native rules may have it.
 */
const wakesItself = ({ manifest }: Pick<AutoscalerView, "manifest">): boolean => {
  const spec = isObject(manifest) ? manifest["spec"] : undefined;
  return isObject(spec) && isObject(spec["idle"]);
};

/**
 * What the switch needs is read before the other controller is touched: a failure there changes
 * nothing.
 */
const unchangedOnError = async <Result>(
  path: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (!isTidemarkError(error) || error.code === "cli.takeover") throw error;
    throw refused(path, `${error.message}; nothing was changed`);
  }
};

interface Switched {
  readonly view: AutoscalerView;
  readonly rival: RivalView & { readonly uid: string };
  readonly switching: RivalSwitch;
}

/**
 * The first question to the cluster, before anything is changed: another cluster than the stored
 * one answers nothing. On doubt, no switch: a person who may delete and not create could not be
 * helped back.
 */
export const refuseWithoutRight = async (
  api: KubeconfigApi,
  {
    view,
    rival,
    switching,
  }: {
    readonly view: Pick<AutoscalerView, "cluster" | "namespace" | "name">;
    readonly rival: Pick<RivalView, "kind" | "name">;
    readonly switching: RivalSwitch;
  },
  steps: readonly (keyof RivalSwitch["needs"])[],
  refusal: (path: string, why: string) => TidemarkError,
): Promise<void> => {
  const path = pathOfTarget(view);
  for (const verb of new Set(steps.map((step) => switching.needs[step]))) {
    const answer = await api.may(verb, switching.path, view.namespace);
    if (answer.kind === "failed")
      throw refusal(
        path,
        `your right to ${verb} ${rival.kind} "${rival.name}" could not be asked for: ${answer.failure.message}; nothing was changed`,
      );
    if (!answer.value)
      throw refusal(
        path,
        `you may not ${verb} ${switching.path.resource} in namespace "${view.namespace}", which the switch or the way back needs; nothing was changed`,
      );
  }
};

/** Refuses an object that is not the one that the syncs see, and one that is at rest already. */
const refuseOther = (
  path: string,
  live: Json,
  { rival, switching }: Pick<Switched, "rival" | "switching">,
): void => {
  // The uid tells one cluster from another, and one object from its successor.
  if (rivalUid(live) !== rival.uid)
    throw refused(
      path,
      `${rival.kind} "${rival.name}" of this kubeconfig is another one than Tidemark sees: check that it is the same cluster, or wait for the next sync`,
    );
  // Of an attempt without an answer, most often: what would be kept now could not go on again.
  if (switching.isAtRest(live))
    throw unseen(
      path,
      `${rival.kind} "${rival.name}" was ${switching.rested} already, perhaps by an attempt without an answer: wait for the next sync, and look at tidemark get ${path}`,
    );
};

/**
 * Keeps the object in the history and brings it to rest, in exactly the version that was kept.
 * Returns what can be made again.
 */
const bringToRest = async (ports: TakeoverPorts, switched: Switched): Promise<Json> => {
  const { view, rival } = switched;
  const { cluster, namespace, name } = view;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const live = await liveRival(ports, switched);
    const kept = restorable({ kind: rival.kind, ...live });
    await ports.service.takeOver({ cluster, namespace, name, rival: kept });
    if ((await restKept(ports, switched, { live, kept })) === "rested") return kept;
  }
  throw refused(
    pathOfTarget(view),
    `${rival.kind} "${rival.name}" was changed ${ATTEMPTS_MAX} times while it was read; nothing was done`,
  );
};

/**
 * The object as it is in the cluster now. Throws `cli.takeover` where it is another one, at rest or
 * gone.
 */
const liveRival = async (
  { api }: TakeoverPorts,
  { view, rival, switching }: Switched,
): Promise<Json> => {
  const path = pathOfTarget(view);
  const got = await switching.get(api, { namespace: view.namespace, name: rival.name });
  if (got.kind === "failed" && got.failure.code === NOT_FOUND)
    throw unseen(
      path,
      `${rival.kind} "${rival.name}" is gone already, perhaps by a call that was ended: wait for the next sync, and look at tidemark get ${path}`,
    );
  const live = valueOrThrow(got, `read ${rival.kind} "${rival.name}"`);
  refuseOther(path, live, { rival, switching });
  return live;
};

/**
 * Brings it to rest as it was kept. Its controller writes its status at any moment, which is
 * another version of the same object: then the newer version is brought to rest.
 */
const restKept = async (
  { api, service }: TakeoverPorts,
  { view, rival, switching }: Switched,
  { live, kept }: { readonly live: Json; readonly kept: Json },
): Promise<"rested" | "changed"> => {
  const { cluster, namespace, name } = view;
  const notMade = (): Promise<unknown> =>
    service.takeOver({ cluster, namespace, name, rival: kept, failed: true });
  let newest = live;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const rested = await switching.rest(api, newest);
    if (rested.kind === "done") return "rested";
    const { code, message } = rested.failure;
    if (code !== CONFLICT) {
      // Without an answer, or after a 5xx, it may have been done: then the takeover stays recorded,
      // so that handback finds it.
      if (isRefused(code)) await notMade();
      const why = `${rival.kind} "${rival.name}" could not be ${switching.rested}: ${message}; look whether it is still there`;
      throw fault(pathOfTarget(view), why, faultOf(code));
    }
    const again = await switching.get(api, { namespace, name: rival.name });
    if (again.kind === "failed" || !isAsKept({ kind: rival.kind, ...again.value }, rival, kept))
      break;
    newest = again.value;
  }
  // A conflict changed nothing.
  await notMade();
  return "changed";
};

const isAsKept = (live: Json, { uid }: Switched["rival"], kept: Json): boolean =>
  rivalUid(live) === uid && isDeepStrictEqual(restorable(live), kept);

/**
 * True where no other controller is beside it, and the newest switch in the history is a takeover.
 * Also where it is a handback without a later edit: that one was interrupted, and left the workload
 * without a controller.
 */
export const isTakenOver = async (
  service: Pick<Service, "changes">,
  {
    cluster,
    namespace,
    name,
    rivals,
    generation,
  }: Pick<AutoscalerView, "cluster" | "namespace" | "name" | "rivals" | "generation">,
): Promise<boolean> => {
  if (rivals !== undefined) return false;
  let isTaken = false;
  for await (const change of service.changes({ cluster, namespace, name })) {
    if (change.verb === "takeover") isTaken = true;
    if (change.verb === "takeover-failed") isTaken = false;
    if (change.verb === "handback") isTaken = change.generation === generation;
  }
  return isTaken;
};
