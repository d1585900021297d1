import type { Answer, MetricValue } from "../../rules/model/observation.ts";
import { queryKey } from "../../rules/model/query.ts";
import type {
  BatchAsking,
  ForeignAnswer,
  RegisteredQuery,
  RegisteredRequest,
} from "../../rules/sources/source.ts";

type Answered = Answer<readonly MetricValue[]>;
type Batch = BatchAsking<RegisteredQuery>;

/** Sends one request; the failure is an answer to all of its questions. */
export type SendBatch = (
  request: RegisteredRequest,
) => Promise<ForeignAnswer | Extract<Answered, { readonly kind: "failed" }>>;

/** The questions in the requests that they share: of one group, and within its weight. */
export const chunksOf = (
  batch: Batch,
  queries: readonly RegisteredQuery[],
): readonly (readonly RegisteredQuery[])[] =>
  [...Map.groupBy(queries, (query) => batch.groupOf(query)).values()].flatMap((group) => {
    const chunks: RegisteredQuery[][] = [];
    let left = 0;
    for (const query of group) {
      const weight = batch.weightOf(query);
      if (weight > left || chunks.length === 0) {
        chunks.push([]);
        left = batch.mostOf(query);
      }
      chunks.at(-1)?.push(query);
      left -= weight;
    }
    return chunks;
  });

const PAGES_MAX = 5;
/**
 * Requests for one chunk at most, while halves of it are asked again: as many as find four
 * questions that are refused among fifty.
 */
const REQUESTS_MAX = 50;

/**
 * Asks one chunk. Where the service refuses all questions because of one, halves of them are asked
 * again, so that the mistake of one autoscaler costs the others nothing.
 */
export const askChunk = async (
  batch: Batch,
  queries: readonly RegisteredQuery[],
  {
    send,
    clock,
    budget = { requests: REQUESTS_MAX },
  }: {
    readonly send: SendBatch;
    readonly clock: () => number;
    readonly budget?: { requests: number };
  },
): Promise<readonly (readonly [string, Answered])[]> => {
  const toAll = (answers: readonly Answered[]) =>
    queries.flatMap((query, at) => (answers[at] ? [[queryKey(query), answers[at]] as const] : []));
  const pages: ForeignAnswer[] = [];
  for (
    let request: RegisteredRequest | undefined = batch.request(queries, { nowMs: clock() });
    request && pages.length < PAGES_MAX;
  ) {
    budget.requests -= 1;
    const sent = await send(request);
    if ("kind" in sent) return toAll(queries.map(() => sent));
    if (batch.isRefusalOfOne(sent) && queries.length > 1 && budget.requests > 1) {
      const middle = Math.ceil(queries.length / 2);
      const first = await askChunk(batch, queries.slice(0, middle), { send, clock, budget });
      return [...first, ...(await askChunk(batch, queries.slice(middle), { send, clock, budget }))];
    }
    pages.push(sent);
    request = batch.next(request, sent);
  }
  return toAll(batch.read(pages, queries));
};
