import type { ApiAnswer } from "../../../lib/answers/api/request-and-answer.ts";
import type { Description, Explanation } from "../../../lib/answers/views/autoscaler.ts";
import type { SparklinesView } from "../../../lib/answers/views/over-time.ts";
import type { Observation, ShownSeries } from "./observed.ts";
import { timeOf } from "./observed.ts";
import { type Asked, type AskOnce, bodyOf, placeQuery, type Unanswered } from "./asking.ts";
import { pathOf, PLACES } from "./places.ts";
import type { Question } from "./timetable.ts";

type Look = Extract<Question, { kind: "describe" | "explain" | "sparklines" | "series" }>;

/** What one answer shows; `undefined` where a request failed. */
export const looked = async (
  once: AskOnce,
  question: Look,
  asked: Asked,
): Promise<Unanswered<Observation> | undefined> => {
  switch (question.kind) {
    case "describe":
      return described(once, question, asked);
    case "explain":
      return explained(once, question, asked);
    case "sparklines": {
      const answer = await once(`names=${PLACES.map(pathOf).join(",")}`, {});
      if (answer.status !== 200) return undefined;
      return { ...asked, kind: "sparklines", lines: bodyOf<SparklinesView>(answer) };
    }
    case "series": {
      const answer = await once("", {});
      if (answer.status !== 200) return undefined;
      return { ...asked, kind: "series", series: seriesIn(answer) };
    }
  }
};

const described = async (
  once: AskOnce,
  { kind, place }: Extract<Look, { kind: "describe" }>,
  asked: Asked,
): Promise<Unanswered<Observation> | undefined> => {
  const answer = await once(placeQuery(place).slice(1), {});
  if (isNothing(answer)) return { ...asked, kind, place };
  if (answer.status !== 200) return undefined;
  return { ...asked, kind, place, description: bodyOf<Description>(answer) };
};

const explained = async (
  once: AskOnce,
  { kind, place, agoMs }: Extract<Look, { kind: "explain" }>,
  asked: Asked,
): Promise<Unanswered<Observation> | undefined> => {
  const at = agoMs === undefined ? {} : { atMs: asked.askedMs - agoMs };
  const query = `${placeQuery(place).slice(1)}${at.atMs === undefined ? "" : `&at=${timeOf(at.atMs)}`}`;
  const answer = await once(query, {});
  if (isNothing(answer)) return { ...asked, kind, place, ...at };
  if (answer.status !== 200) return undefined;
  return { ...asked, kind, place, ...at, explanation: bodyOf<Explanation>(answer) };
};

/** There is no such autoscaler, or none that the caller may see, or no sync has evaluated it. */
const isNothing = ({ status }: ApiAnswer): boolean =>
  status === 403 || status === 404 || status === 409;

const seriesIn = (answer: ApiAnswer): readonly ShownSeries[] => {
  const { families } = bodyOf<{
    readonly families: readonly {
      readonly name: string;
      readonly samples: readonly Omit<ShownSeries, "name">[];
    }[];
  }>(answer);
  return families.flatMap(({ name, samples }) => samples.map((one) => ({ name, ...one })));
};
