import type { ApiAnswer } from "../../../lib/answers/api/request-and-answer.ts";
import type { Observation } from "./observed.ts";
import type { Place } from "./places.ts";

export type AskOnce = (
  query: string,
  headers: Readonly<Record<string, string>>,
) => Promise<ApiAnswer>;

export type Asked = Pick<Observation, "reader" | "askedMs" | "sinceMs" | "untilMs">;
export type Unanswered<One> = One extends Observation ? Omit<One, "answeredMs"> : never;

export const placeQuery = (place: Place | undefined): string =>
  place ? `&cluster=${place.cluster}&namespace=${place.namespace}&name=${place.name}` : "";

export const bodyOf = <Body>({ body }: ApiAnswer): Body => JSON.parse(String(body)) as Body;
