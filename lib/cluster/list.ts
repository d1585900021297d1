import { isObject } from "../model/is-object.ts";
import type { ApiFailure } from "../model/observation.ts";
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
  /** Converts one raw object, or leaves it out. Called page by page, so that no more than one page of raw objects is held. */
  readonly read: (raw: JsonObject) => Item | undefined;
  /** Called at the beginning and when the LIST starts again: it must drop what `read` has collected. */
  readonly begin?: () => void;
  /** Objects of the first page, where fewer than a full page may be enough. */
  readonly firstLimit?: number;
  /** False for APIs that ignore the limit and answer in one piece (metrics.k8s.io). */
  readonly paged?: boolean;
  /** Called after each page; true stops the LIST early. `remaining` is the estimate of the server of the objects that follow. */
  readonly enough?: (items: readonly Item[], remaining: number | undefined) => boolean;
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
    const answer = await transport.get(requestOf(what, token), budget);
    if (answer.kind === "failed") return answer;
    const { objects, next, remaining } = pageOf(answer.body);
    // Fails to a failed read: an answer without its items would look like an empty cluster.
    if (objects === undefined) return failed(what, "the answer has no list of items");
    gather(what, objects, items);
    if (next === undefined) return { kind: "listed", items, complete: true, remaining: 0 };
    if (what.enough?.(items, remaining)) return { kind: "listed", items, complete: false, remaining };
    token = next;
  }
  return failed(what, `the list does not end after ${MAX_PAGES} pages`);
};

const gather = <Item>(what: ListOf<Item>, objects: readonly JsonObject[], items: Item[]): void => {
  for (const object of objects) {
    const item = what.read(object);
    if (item !== undefined) items.push(item);
  }
};

interface Page {
  /** Undefined when the answer is no list. */
  readonly objects: readonly JsonObject[] | undefined;
  readonly next: string | undefined;
  readonly remaining: number | undefined;
}

const pageOf = (body: JsonObject): Page => {
  const metadata = isObject(body["metadata"]) ? body["metadata"] : {};
  const { continue: next, remainingItemCount: remaining } = metadata;
  return {
    objects: objectsOf(body),
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

const failed = (what: { readonly resource: string }, state: string): Listed<never> => ({
  kind: "failed",
  failure: { code: 0, reason: "MalformedAnswer", message: `Cannot list ${what.resource}: ${state}` },
});
