import { isObject } from "../model/is-object.ts";
import type { ApiFailure } from "../model/observation.ts";
import { asObject } from "./read/json.ts";
import { MAX_LIST_RESTARTS, MAX_PAGES, PAGE_LIMIT } from "./request-limits.ts";
import type { CallBudget } from "./transport/budget.ts";
import type { ApiRequest } from "./transport/send.ts";
import type { JsonObject, Transport } from "./transport/transport.ts";
import type { WireKind } from "./wire/message.ts";

export interface ListOf<Item> {
  readonly path: string;
  readonly resource: string;
  /** The list, where it may come as protobuf: `read` then gets the same objects, with the fields of the kind's table alone. */
  readonly protobuf?: WireKind;
  /** Converts one raw object, or leaves it out. It must keep nothing: the page that it is of may turn out to be broken. */
  readonly read: (raw: JsonObject) => Item | undefined;
  /** Gets the items of each whole page, and how many objects it had. Then the LIST itself collects nothing. */
  readonly onPage?: (items: readonly Item[], objects: number) => void;
  /** Called at the beginning and when the LIST starts again: it must drop what `onPage` has collected. */
  readonly begin?: () => void;
  /** Objects of the first page, where fewer than a full page may be enough. */
  readonly firstLimit?: number;
  /** False for APIs that ignore the limit and answer in one piece (metrics.k8s.io). */
  readonly paged?: boolean;
  /** Called after each page; true stops the LIST early. `remaining` is the estimate of the server of the objects that follow. */
  readonly enough?: (remaining: number | undefined) => boolean;
}

export type Listed<Item> =
  | {
      readonly kind: "listed";
      readonly items: readonly Item[];
      /** False when `enough` stopped it. */
      readonly complete: boolean;
      /** Estimate of the server of the objects that follow. */
      readonly remaining: number | undefined;
    }
  | { readonly kind: "failed"; readonly failure: ApiFailure };

/**
 * Reads a collection page by page, without resourceVersion: each page shows the state of the first one, which is no older than this call. When the server has dropped that state
 * (410), the LIST starts again from the beginning.
 */
export const list = async <Item>(transport: Pick<Transport, "get">, what: ListOf<Item>, budget: CallBudget): Promise<Listed<Item>> => {
  for (let restart = 0; ; restart++) {
    const listed = await listOnce(transport, what, budget);
    const expired = listed.kind === "failed" && listed.failure.code === 410;
    if (!expired || restart >= MAX_LIST_RESTARTS) return listed;
  }
};

const listOnce = async <Item>(transport: Pick<Transport, "get">, what: ListOf<Item>, budget: CallBudget): Promise<Listed<Item>> => {
  what.begin?.();
  const items: Item[] = [];
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await readPage(transport, what, { token, budget });
    if (answer.kind === "failed") return answer;
    const { next, remaining } = answer;
    if (what.onPage) what.onPage(answer.items, answer.objects);
    else for (const item of answer.items) items.push(item);
    if (next === undefined) return { kind: "listed", items, complete: true, remaining: 0 };
    if (what.enough?.(remaining)) return { kind: "listed", items, complete: false, remaining };
    token = next;
  }
  return failed(what, `the list does not end after ${MAX_PAGES} pages`);
};

interface Page<Item> {
  readonly kind: "page";
  readonly items: readonly Item[];
  /** Those that were left out included. */
  readonly objects: number;
  readonly next: string | undefined;
  readonly remaining: number | undefined;
}

/** Reads one page. Its objects are converted while it is decoded, so that they are not held all at once; of JSON they are. */
const readPage = async <Item>(
  transport: Pick<Transport, "get">,
  what: ListOf<Item>,
  { token, budget }: { readonly token: string | undefined; readonly budget: CallBudget },
): Promise<Page<Item> | Extract<Listed<never>, { kind: "failed" }>> => {
  const items: Item[] = [];
  let objects = 0;
  const onItem = (raw: JsonObject): void => {
    objects++;
    const item = what.read(raw);
    if (item !== undefined) items.push(item);
  };
  const answer = await transport.get({ ...requestOf(what, token), onItem }, budget);
  if (answer.kind === "failed") return answer;
  const raws = answer.streamed ? [] : objectsOf(answer.body);
  // Fails to a failed read: an answer without its items would look like an empty cluster.
  if (raws === undefined) return failed(what, "the answer has no list of items");
  for (const raw of raws) onItem(raw);
  const { continue: next, remainingItemCount: remaining } = asObject(answer.body["metadata"]);
  return {
    kind: "page",
    items,
    objects,
    next: typeof next === "string" && next !== "" ? next : undefined,
    remaining: typeof remaining === "number" ? remaining : undefined,
  };
};

/** The objects of a list. A server in Go may write an empty list as null. */
const objectsOf = ({ items, kind }: JsonObject): readonly JsonObject[] | undefined => {
  if (Array.isArray(items)) return items.every(isObject) ? items : undefined;
  return items === null && typeof kind === "string" && kind.endsWith("List") ? [] : undefined;
};

const requestOf = (
  { path, resource, protobuf, ...what }: Pick<ListOf<unknown>, "path" | "resource" | "protobuf" | "paged" | "firstLimit">,
  token: string | undefined,
): ApiRequest => ({
  path,
  resource,
  query: pageQuery(what, token),
  ...(protobuf && { protobuf }),
});

const pageQuery = (what: Pick<ListOf<unknown>, "paged" | "firstLimit">, token: string | undefined): Record<string, string> => {
  if (what.paged === false) return {};
  const limit = token === undefined ? Math.min(PAGE_LIMIT, what.firstLimit ?? PAGE_LIMIT) : PAGE_LIMIT;
  return { limit: String(limit), ...(token !== undefined && { continue: token }) };
};

const failed = (what: { readonly resource: string }, state: string): Extract<Listed<never>, { kind: "failed" }> => ({
  kind: "failed",
  failure: { code: 0, reason: "MalformedAnswer", message: `Cannot list ${what.resource}: ${state}` },
});
