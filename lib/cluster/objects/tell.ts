import pLimit from "p-limit";
import type { ApiSession } from "../scale.ts";
import type { WriteAnswer } from "../transport/transport.ts";
import { type Correlated, EventSeries } from "./event-series.ts";
import { repeatRequest, type TellRequest, tellRequest } from "./tell-requests.ts";
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

/** What one client remembers between syncs. */
interface Memory {
  readonly session: ApiSession;
  readonly clock: () => number;
  readonly series: EventSeries;
  /** Until when a right is not tried again, by subject. */
  readonly quietUntilMs: Map<string, number>;
}

/**
 * Tells the people of a cluster what was decided. Nothing depends on it, so that every failure is only counted. What is refused for want of a right, or because the kind has no status, is not
 * asked again for ten minutes; a busy API server ends the telling of this sync.
 */
export const teller = (session: ApiSession, clock: () => number): Tell => {
  const memory: Memory = { session, clock, series: new EventSeries(), quietUntilMs: new Map() };
  return async (tellings, limits) => {
    const untilMs = session.elapsed() + limits.budgetMs;
    const limit = pLimit(PARALLEL);
    let calls = 0;
    let isBusy = false;
    const ask = async (request: TellRequest): Promise<WriteAnswer | undefined> => {
      const leftMs = untilMs - session.elapsed();
      if (isBusy || leftMs <= 0 || calls >= limits.callsMax) return undefined;
      calls += 1;
      const answer = await session.transport.tell(request, Math.min(leftMs, CALL_MS_MAX));
      isBusy ||= isBusyAnswer(answer);
      return answer;
    };
    const outcomes = await Promise.all(tellings.map((telling) => limit(() => tellOne(memory, telling, ask))));
    const count = (wanted: keyof Told): number => outcomes.filter((outcome) => outcome === wanted).length;
    return { written: count("written"), failed: count("failed"), left: count("left") };
  };
};

/** Sends a request, or gives undefined where there is no time and no room for it. */
type Ask = (request: TellRequest) => Promise<WriteAnswer | undefined>;

const tellOne = async (memory: Memory, telling: Telling, ask: Ask): Promise<keyof Told> => {
  if (isQuiet(memory, subjectOf(telling))) return "left";
  if (telling.kind === "event") return tellEvent(memory, telling, ask);
  return outcomeOf(memory, subjectOf(telling), await ask(tellRequest(telling, memory.session.fieldManager)));
};

/** The Event itself, or a higher count of the one that says the same. Fails to a new Event where the API server has forgotten that one. */
const tellEvent = async (memory: Memory, telling: Extract<Telling, { kind: "event" }>, ask: Ask): Promise<keyof Told> => {
  const { series, session } = memory;
  const correlated = series.correlate(telling.about, telling.event);
  if (correlated.kind === "told") return "written";
  if (correlated.kind === "limited") return "left";
  const written = { ...telling, event: correlated.event };
  if (correlated.kind === "create") return settledEvent(memory, telling, correlated, await ask(tellRequest(written, session.fieldManager)));
  const subject = `series ${telling.about.namespace}`;
  if (isQuiet(memory, subject)) return "left";
  const answer = await ask(repeatRequest(written, correlated.count, session.fieldManager));
  if (answer?.kind === "failed" && answer.failure.code === NOT_FOUND) {
    series.forget(correlated.key);
    return settledEvent(
      memory,
      telling,
      { ...correlated, kind: "create", event: telling.event },
      await ask(tellRequest(telling, session.fieldManager)),
    );
  }
  if (answer?.kind === "written") series.wrote(correlated);
  return outcomeOf(memory, subject, answer);
};

const settledEvent = (
  memory: Memory,
  telling: Telling,
  correlated: Extract<Correlated, { kind: "create" }>,
  answer: WriteAnswer | undefined,
): keyof Told => {
  // 409: the Event of this id is there already.
  const isThere = answer?.kind === "written" || answer?.failure.code === CONFLICT;
  if (isThere) memory.series.wrote(correlated);
  return isThere ? "written" : outcomeOf(memory, subjectOf(telling), answer);
};

const isQuiet = ({ quietUntilMs, clock }: Memory, subject: string): boolean => (quietUntilMs.get(subject) ?? 0) > clock();

const subjectOf = (telling: Telling): string =>
  telling.kind === "event" ? `${EVENTS} ${telling.about.namespace}` : `status ${telling.about.of.plural} ${telling.about.namespace}`;
const EVENTS = "events";

const isBusyAnswer = (answer: WriteAnswer): boolean =>
  answer.kind === "failed" && (answer.failure.code === TOO_MANY_REQUESTS || answer.failure.code === 0);

const outcomeOf = ({ quietUntilMs, clock }: Memory, subject: string, answer: WriteAnswer | undefined): keyof Told => {
  if (answer === undefined) return "left";
  if (answer.kind === "written") return "written";
  const { code } = answer.failure;
  // A server without events.k8s.io/v1 answers 404 to a new Event.
  if (code === FORBIDDEN || (subject.startsWith(EVENTS) && code === NOT_FOUND)) quietUntilMs.set(subject, clock() + QUIET_MS);
  return "failed";
};
