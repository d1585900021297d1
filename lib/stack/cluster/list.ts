import type { ApiFailure } from "../../rules/model/observation.ts";
import { PAGE_BYTES, pageSizes, type UnchangedItems } from "./list-memory.ts";
import { MAX_LIST_RESTARTS, MAX_PAGES, PAGE_LIMIT } from "./request-limits.ts";
import type { CallBudget } from "./transport/budget.ts";
import { ANSWER_TOO_LARGE, TIMEOUT } from "./transport/failure.ts";
import type { Transport } from "./transport/transport.ts";
import {
  type PassedOver,
  type ListOf,
  type Listed,
  fieldsOf,
  type PageAt,
  malformed,
  type PageAnswer,
  readName,
  readListPage,
  type ReadObjectsPage,
} from "./read-page.ts";

/**
 * Why an object that was passed over could not be read, in the grammar of every other failed call.
 */
export const passedOverFailure = (
  resource: string,
  { namespace, name }: PassedOver,
): ApiFailure => ({
  code: 0,
  reason: OBJECT_TOO_LARGE,
  message: `Cannot read ${resource} "${namespace}/${name}": it is larger than an answer may be; remove labels, annotations or containers that it does not need`,
});

const OBJECT_TOO_LARGE = "ObjectTooLarge";

/**
 * A page that was too large is followed by one of a quarter of its objects: an answer of 32 MiB is
 * not worth many trials.
 */
const SHRINK_BY = 4;

/**
 * Reads a collection page by page, without resourceVersion: each page shows the state of the first
 * one, which is no older than this call. When the server has dropped that state (410), the LIST
 * starts again from the beginning.
 *
 *     500 objects: too large ── 125: too large ── 31: read ── 124: read ── 496 …
 *                                                  └── 7: too large ── 1: too large ── its name by a LIST of metadata, and on behind it
 */
export const readList = async <Item>(
  transport: Pick<Transport, "get">,
  what: ListOf<Item>,
  budget: CallBudget,
): Promise<Listed<Item>> => {
  for (let restart = 0; ; restart++) {
    const listed = await listOnce(transport, what, budget);
    const expired = listed.kind === "failed" && listed.failure.code === 410;
    if (!expired || restart >= MAX_LIST_RESTARTS) return listed;
  }
};

const listOnce = async <Item>(
  transport: Pick<Transport, "get">,
  what: ListOf<Item>,
  budget: CallBudget,
): Promise<Listed<Item>> => {
  what.begin?.();
  const items: Item[] = [];
  const passedOver: PassedOver[] = [];
  const collect = (page: readonly Item[]): void => {
    for (const item of page) items.push(item);
  };
  const { onPage = collect } = what;
  const unchanged = what.unchanged?.begin();
  const versions = new Set<string | undefined>();
  const sizes = pageSizes(transport, [what.path, fieldsOf(what)].join("?"));
  const ended = (): Listed<Item> => {
    sizes.end();
    unchanged?.end();
    const [version] = versions.size === 1 ? versions : [];
    return { kind: "listed", items, complete: true, remaining: 0, passedOver, version };
  };
  let at: PageAt = {
    token: undefined,
    limit: Math.min(sizes.most(), what.firstLimit ?? PAGE_LIMIT),
    shrunk: false,
  };
  for (let page = 0; page < MAX_PAGES; page++) {
    const { answer, limit } = await readFitting(
      transport,
      what,
      { ...at, tooLarge: sizes.tooLarge, late: sizes.late, unchanged },
      budget,
    );
    if (answer.kind === "failed") return answer;
    passedOver.push(...answer.passedOver);
    onPage(answer.items, answer.objects);
    what.weigh?.(answer.weights);
    sizes.read(answer);
    const { next, remaining } = answer;
    versions.add(answer.version);
    if (next === undefined) return ended();
    if (what.enough?.(remaining))
      return { kind: "listed", items, complete: false, remaining, passedOver };
    const shrunk = at.shrunk || limit < at.limit;
    at = {
      token: next,
      limit: Math.min(sizes.most(), nextLimit({ limit, shrunk }, answer)),
      shrunk,
    };
  }
  return malformed(what, `the list does not end after ${MAX_PAGES} pages`);
};

/**
 * Reads a page, with fewer objects each time that it is too large. Where even one object is too
 * large, the last question is for its name.
 */
const readFitting = async <Item>(
  transport: Pick<Transport, "get">,
  what: ListOf<Item>,
  at: PageAt & {
    readonly tooLarge: (objects: number) => void;
    readonly late: (objects: number) => void;
    readonly unchanged: UnchangedItems | undefined;
  },
  budget: CallBudget,
): Promise<{ readonly answer: PageAnswer<Item>; readonly limit: number }> => {
  for (let { limit } = at; ; limit = Math.floor(limit / SHRINK_BY)) {
    const answer = await (limit === 0 ? readName : readListPage)(
      transport,
      what,
      { ...at, limit },
      budget,
    );
    const tooLarge = answer.kind === "failed" && isTooLarge(answer.failure);
    if (answer.kind === "failed" && isLate(answer.failure)) at.late(limit);
    if (!tooLarge || what.paged === false || limit === 0) return { answer, limit };
    at.tooLarge(limit);
  }
};

/** True for the failure of an answer with more than may be read. Fewer objects may be readable. */
export const isTooLarge = ({ code, reason }: ApiFailure): boolean =>
  code === 0 && reason === ANSWER_TOO_LARGE;

/** True for the failure of an answer that had not come whole in time. */
export const isLate = ({ code, reason }: ApiFailure): boolean => code === 0 && reason === TIMEOUT;

/**
 * As many objects as a full page, unless the objects of this page say that so many would have too
 * many bytes.
 */
const nextLimit = (
  { limit, shrunk }: Omit<PageAt, "token">,
  { objects, bytes }: ReadObjectsPage<unknown>,
): number => {
  const fitting = bytes === 0 ? PAGE_LIMIT : Math.floor((PAGE_BYTES * objects) / bytes);
  return Math.max(1, Math.min(PAGE_LIMIT, fitting, shrunk ? limit * SHRINK_BY : PAGE_LIMIT));
};
