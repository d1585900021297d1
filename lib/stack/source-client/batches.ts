import type { Answer, MetricValue } from "../../rules/model/observation.ts";
import { queryKey } from "../../rules/model/query.ts";
import { flowShares } from "../turns/shares.ts";
import type {
  BatchAsking,
  ForeignAnswer,
  RegisteredQuery,
  RegisteredRequest,
} from "../../rules/sources/source.ts";

type Answered = Answer<readonly MetricValue[]>;
type Batch = BatchAsking<RegisteredQuery>;

/** Sends one request of a flow; the failure is an answer to all of its questions. */
export type SendBatch = (
  request: RegisteredRequest,
  flow: string,
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
 * Requests for the questions of one namespace in a chunk at most, while halves of them are asked
 * again: as many as find four questions that are refused among fifty. For the questions of several
 * namespaces there are as many: they find where the refused ones are.
 */
const REQUESTS_MAX = 50;

/** The flow of a request that several namespaces share. */
const SHARED = "";

interface AskingChunk {
  readonly send: SendBatch;
  readonly clock: () => number;
  /** The namespace that asks a question. */
  readonly flowOf: (query: RegisteredQuery) => string;
}

/**
 * Asks one chunk. Where the service refuses all questions because of one, parts of them are asked
 * again, so that the mistake of one autoscaler costs the others nothing: first by namespace, so
 * that a namespace whose questions are refused spends only its own requests.
 */
export const askChunk = async (
  batch: Batch,
  queries: readonly RegisteredQuery[],
  asking: AskingChunk,
): Promise<readonly (readonly [string, Answered])[]> => {
  const byFlow = [...Map.groupBy(queries, asking.flowOf).values()].flat();
  const shares = flowShares({ requests: REQUESTS_MAX });
  const mayAskAgain = (flow: string): boolean => {
    // The two halves of the last part are requests, too.
    shares.spend(flow, "requests", 1);
    return shares.spent(flow, "requests") + 1 < REQUESTS_MAX;
  };
  return askPart(batch, byFlow, { ...asking, mayAskAgain });
};

/** `queries`: the queries of a flow stand together. */
const askPart = async (
  batch: Batch,
  queries: readonly RegisteredQuery[],
  asking: AskingChunk & { readonly mayAskAgain: (flow: string) => boolean },
): Promise<readonly (readonly [string, Answered])[]> => {
  const { send, clock, flowOf, mayAskAgain } = asking;
  const toAll = (answers: readonly Answered[]) =>
    queries.flatMap((query, at) => (answers[at] ? [[queryKey(query), answers[at]] as const] : []));
  const flows = new Set(queries.map(flowOf));
  const [first = SHARED] = flows;
  const flow = flows.size === 1 ? first : SHARED;
  const pages: ForeignAnswer[] = [];
  for (
    let request: RegisteredRequest | undefined = batch.request(queries, { nowMs: clock() });
    request && pages.length < PAGES_MAX;
  ) {
    const isAskedAgain = mayAskAgain(flow);
    const sent = await send(request, flow);
    if ("kind" in sent) return toAll(queries.map(() => sent));
    if (batch.isRefusalOfOne(sent) && queries.length > 1 && isAskedAgain) {
      const middle = middleOf(queries, flowOf);
      const one = await askPart(batch, queries.slice(0, middle), asking);
      return [...one, ...(await askPart(batch, queries.slice(middle), asking))];
    }
    pages.push(sent);
    request = batch.next(request, sent);
  }
  return toAll(batch.read(pages, queries));
};

/** Where the questions are divided: between two flows, as near to the middle as they allow. */
const middleOf = (
  queries: readonly RegisteredQuery[],
  flowOf: (query: RegisteredQuery) => string,
): number => {
  const middle = Math.ceil(queries.length / 2);
  const borders = queries.flatMap((query, at) => {
    const before = queries[at - 1];
    return before && flowOf(before) !== flowOf(query) ? [at] : [];
  });
  const [nearest = middle] = borders.toSorted(
    (one, other) => Math.abs(one - middle) - Math.abs(other - middle),
  );
  return nearest;
};
