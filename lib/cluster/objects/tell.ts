import pLimit from "p-limit";
import type { ApiSession } from "../scale.ts";
import type { WriteAnswer } from "../transport/transport.ts";
import { tellRequest } from "./tell-requests.ts";
import type { TellLimits, Telling, Told } from "./telling.ts";

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
  return async (tellings, { budgetMs, callsMax }) => {
    const untilMs = session.elapsed() + budgetMs;
    const limit = pLimit(PARALLEL);
    const counts = { written: 0, failed: 0, left: 0 };
    let calls = 0;
    let over = false;
    const tellOne = async (telling: Telling): Promise<keyof Told> => {
      const leftMs = untilMs - session.elapsed();
      const what = subjectOf(telling);
      if (over || leftMs <= 0 || calls >= callsMax || (quietUntilMs.get(what) ?? 0) > clock()) return "left";
      calls += 1;
      const { method, body, ...request } = tellRequest(telling, session.fieldManager);
      const outcome = outcomeOf(telling, await session.transport.tell({ ...request, method, body }, Math.min(leftMs, CALL_MS_MAX)));
      if (outcome === "forbidden") quietUntilMs.set(what, clock() + QUIET_MS);
      if (outcome === "busy") over = true;
      return outcome === "written" ? "written" : "failed";
    };
    await Promise.all(tellings.map((telling) => limit(async () => void (counts[await tellOne(telling)] += 1))));
    return counts;
  };
};

const subjectOf = (telling: Telling): string =>
  telling.kind === "event" ? `events ${telling.about.namespace}` : `status ${telling.about.of.plural} ${telling.about.namespace}`;

const outcomeOf = (telling: Telling, answer: WriteAnswer): "written" | "forbidden" | "busy" | "failed" => {
  if (answer.kind === "written") return "written";
  const { code } = answer.failure;
  // The Event of this id is there already.
  if (telling.kind === "event" && code === CONFLICT) return "written";
  if (code === FORBIDDEN || (telling.kind === "event" && code === NOT_FOUND)) return "forbidden";
  return code === TOO_MANY_REQUESTS || code === 0 ? "busy" : "failed";
};
