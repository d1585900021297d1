import { isTidemarkError } from "../../rules/model/errors.ts";
import { isObject } from "../../rules/model/json.ts";
import type { Service } from "../../answers/service/service.ts";
import { mapWithLimit } from "../../stack/store/table/wait-for-all.ts";
import type { AutoscalerView } from "../../answers/views/autoscaler.ts";
import { pathOfTarget } from "./take-over-one.ts";

/**
 * What became of one autoscaler. `waiting`: it was not ready in its time. `refused`: it cannot be
 * switched as it is. `failed`: its switch was begun, and did not work. `left`: its turn did not
 * come. Only after `done` and `failed` has something changed.
 */
export interface SwitchResult {
  readonly view: AutoscalerView;
  readonly outcome: "done" | "waiting" | "refused" | "failed" | "left";
  readonly message: string;
}

export interface ManySwitches {
  readonly service: Pick<Service, "get">;
  /** Real time in ms. */
  readonly elapsed: () => number;
  /** A wait in real time that the signal ends early. */
  readonly wait: (ms: number) => Promise<unknown>;
  readonly signal: AbortSignal;
  /** How many are switched at once. */
  readonly size: number;
  /** How long one may be unready, in ms. */
  readonly waitMs: number;
  /** Between two batches, in ms. */
  readonly pauseMs: number;
  /** Failed switches after which no other is begun: with 0 the first ends the work. */
  readonly failuresMax: number;
  /** Why one cannot be switched yet; undefined where it is ready. */
  readonly waitsFor: (view: AutoscalerView) => string | undefined;
  /** Switches one, and resolves with what to say of it. */
  readonly work: (view: AutoscalerView) => Promise<string>;
  /** Gets one that begins to wait, once, and why. */
  readonly begunToWait?: (view: AutoscalerView, why: string) => unknown;
  /** Gets each result as it comes, and what is still to do. */
  readonly report: (result: SwitchResult, left: number) => Promise<unknown>;
}

interface Pending {
  readonly view: AutoscalerView;
  /** Absent where it was ready, or not looked at yet. */
  readonly unready?: { readonly sinceMs: number; readonly why: string };
  /** True in the round in which it was first seen unready. */
  readonly isNew?: boolean;
  /**
   * True where no sync has seen yet that an earlier call has switched it: its state is of before.
   */
  readonly unseen?: boolean;
}

const LOOK_AGAIN_MS = 1_000;
/** Autoscalers that one round looks at. The others have their turn in the next one. */
const LOOKS_MAX = 256;
const LOOKS_AT_ONCE = 16;

/*
 *  round 1   look at 256 ── ready: 7   ── switch 1
 *         the first one by itself: a cause that all have in common strikes one
 *  round 2   look at 256 ── ready: 5   ── switch 2
 *  round 3   look at 256 ── ready: 0   ── a second
 *  …         unready for longer than `waitMs`: passed over
 */

/**
 * Switches many autoscalers, each as soon as it is ready: one first, then twice as many in each
 * batch, up to `size`. What is not ready or cannot be switched is passed over; what was begun and
 * failed ends the work once there are more than `failuresMax`. Resolves with a result for each, in
 * the order in which they came.
 */
export const switchMany = async (
  views: readonly AutoscalerView[],
  many: ManySwitches,
): Promise<readonly SwitchResult[]> => {
  const { wait, signal, size, pauseMs, failuresMax, report } = many;
  const results: SwitchResult[] = [];
  const note = async (result: SwitchResult): Promise<void> => {
    results.push(result);
    await report(result, views.length - results.length);
  };
  let queue: readonly Pending[] = views.map((view) => ({ view }));
  let batch = 1;
  const goesOn = (): boolean =>
    queue.length > 0 &&
    !signal.aborted &&
    results.filter(({ outcome }) => outcome === "failed").length <= failuresMax;
  while (goesOn()) {
    const { ready, waiting, over } = await look(queue, many, batch);
    sayNewlyWaiting(waiting, many);
    for (const result of over) await note(result);
    const again = await Promise.all(ready.map((pending) => switchOne(pending, many, note)));
    queue = [...waiting, ...again.flat()];
    if (goesOn()) await wait(ready.length > 0 ? pauseMs : LOOK_AGAIN_MS);
    batch = Math.min(size, batch * (ready.length > 0 ? 2 : 1));
  }
  for (const { view, unready } of queue)
    await note({ view, outcome: "left", message: unready?.why ?? "its turn did not come" });
  return results;
};

const sayNewlyWaiting = (waiting: readonly Pending[], { begunToWait }: ManySwitches): void => {
  for (const { view, unready, isNew } of waiting)
    if (unready && isNew) begunToWait?.(view, unready.why);
};

interface Looked {
  readonly ready: readonly Pending[];
  /** Whose turn comes later; those that were not looked at are first. */
  readonly waiting: readonly Pending[];
  readonly over: readonly SwitchResult[];
}

const look = async (
  queue: readonly Pending[],
  { service, elapsed, waitMs, waitsFor }: ManySwitches,
  batch: number,
): Promise<Looked> => {
  const lookAt = async ({ view: before, unready, unseen = false }: Pending): Promise<Pending> => {
    const { cluster, namespace, name } = before;
    const view = await service.get({ cluster, namespace, name });
    const why = unseen && isSameShadow(before, view) ? unready?.why : waitsFor(view);
    return why === undefined
      ? { view }
      : {
          view,
          unready: { sinceMs: unready?.sinceMs ?? elapsed(), why },
          isNew: unready === undefined,
          unseen,
        };
  };
  const seen = await mapWithLimit(queue.slice(0, LOOKS_MAX), LOOKS_AT_ONCE, lookAt);
  const ready = seen.filter(({ unready }) => unready === undefined);
  const overdue = seen.filter(
    ({ unready }) => unready !== undefined && elapsed() - unready.sinceMs >= waitMs,
  );
  const waiting = seen.filter(
    (pending) => !overdue.includes(pending) && !ready.slice(0, batch).includes(pending),
  );
  return {
    ready: ready.slice(0, batch),
    waiting: [...queue.slice(LOOKS_MAX), ...waiting],
    over: overdue.map(({ view, unready }) => ({
      view,
      outcome: "waiting",
      message: unready?.why ?? "",
    })),
  };
};

/**
 * True while the syncs see what they saw before: beside an object that was made anew it has to be
 * taken over again.
 */
const isSameShadow = (before: AutoscalerView, { state, rivals }: AutoscalerView): boolean =>
  state === "shadow" && rivals?.[0]?.uid === before.rivals?.[0]?.uid;

/**
 * The reason without `Cannot take over "eu-1/shop/web": `, which stands before it where it is
 * printed.
 */
const withoutHead = (message: string, path: string): string => {
  const end = message.startsWith("Cannot ") ? message.indexOf(`"${path}": `) : -1;
  return end === -1 ? message : message.slice(end + `"${path}": `.length);
};

/**
 * Switches one and notes the result; or gives it back, where a sync has to see it first and there
 * is time to wait.
 */
const switchOne = async (
  { view, unready }: Pending,
  { work, elapsed, waitMs, begunToWait }: ManySwitches,
  note: (result: SwitchResult) => Promise<void>,
): Promise<readonly Pending[]> => {
  try {
    await note({ view, outcome: "done", message: await work(view) });
  } catch (error) {
    if (!isTidemarkError(error)) throw error;
    const why = withoutHead(error.message, pathOfTarget(view));
    const kind = isObject(error.details) ? error.details["kind"] : undefined;
    if (kind === "unseen" && waitMs > 0) {
      begunToWait?.(view, why);
      return [{ view, unready: { sinceMs: unready?.sinceMs ?? elapsed(), why }, unseen: true }];
    }
    // On doubt, failed: an error that does not say that nothing was changed ends the work.
    await note({
      view,
      outcome: kind === "refused" || kind === "unseen" ? "refused" : "failed",
      message: why,
    });
  }
  return [];
};
