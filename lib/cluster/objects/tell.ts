import pLimit from "p-limit";
import type { ApiSession } from "../scale.ts";
import type { WriteAnswer } from "../transport/transport.ts";
import { tellRequest } from "./tell-requests.ts";
import type { Telling, TellLimits, Told } from "./telling.ts";

const PARALLEL = 4;
/** One slow answer must not take the time of all others. */
const CALL_MS_MAX = 1_000;
/** How long a client asks no more after an answer that will be the same next time. The role for it is optional. */
const QUIET_MS = 10 * 60_000;
const FORBIDDEN = 403;
const NOT_FOUND = 404;
const CONFLICT = 409;
const TOO_MANY_REQUESTS = 429;

export type Tell = (tellings: readonly Telling[], limits: TellLimits) => Promise<Told>;

/**
 * Tells the people of a cluster what was decided. Nothing depends on it, so that every failure is only counted. What is refused for want of a right, or because the kind has no status, is not
 * asked again for ten minutes; a busy API server ends the telling of this sync.
 */
export const teller = (session: ApiSession, clock: () => number): Tell => {
  const quietUntilMs = new Map<string, number>();
  const isQuiet = (subject: string): boolean => (quietUntilMs.get(subject) ?? 0) > clock();
  const send = async (telling: Telling, timeoutMs: number): Promise<Outcome> => {
    const { method, body, ...request } = tellRequest(telling, session.fieldManager);
    const outcome = outcomeOf(telling, await session.transport.tell({ ...request, method, body }, timeoutMs));
    if (outcome === "forbidden") quietUntilMs.set(subjectOf(telling), clock() + QUIET_MS);
    return outcome;
  };
  return async (tellings, limits) => {
    const untilMs = session.elapsed() + limits.budgetMs;
    const limit = pLimit(PARALLEL);
    let calls = 0;
    let isBusy = false;
    const tellOne = async (telling: Telling): Promise<keyof Told> => {
      const leftMs = untilMs - session.elapsed();
      if (isBusy || leftMs <= 0 || calls >= limits.callsMax || isQuiet(subjectOf(telling))) return "left";
      calls += 1;
      const outcome = await send(telling, Math.min(leftMs, CALL_MS_MAX));
      isBusy ||= outcome === "busy";
      return outcome === "written" ? "written" : "failed";
    };
    const outcomes = await Promise.all(tellings.map((telling) => limit(() => tellOne(telling))));
    const count = (wanted: keyof Told): number => outcomes.filter((outcome) => outcome === wanted).length;
    return { written: count("written"), failed: count("failed"), left: count("left") };
  };
};

type Outcome = "written" | "forbidden" | "busy" | "failed";

const subjectOf = (telling: Telling): string =>
  telling.kind === "event" ? `events ${telling.about.namespace}` : `status ${telling.about.of.plural} ${telling.about.namespace}`;

const outcomeOf = (telling: Telling, answer: WriteAnswer): Outcome => {
  if (answer.kind === "written") return "written";
  const { code } = answer.failure;
  // The Event of this id is there already.
  if (telling.kind === "event" && code === CONFLICT) return "written";
  if (code === FORBIDDEN || (telling.kind === "event" && code === NOT_FOUND)) return "forbidden";
  return code === TOO_MANY_REQUESTS || code === 0 ? "busy" : "failed";
};
