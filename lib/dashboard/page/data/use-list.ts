import type { Api, Outcome, Parameters } from "./request.ts";
import { type Ask, type Known, usePolled, useSource } from "./use-document.ts";

/** A list as far as it was read. */
export interface ReadList<Item> {
  readonly items: readonly Item[];
  /** True where there is more than was asked for. */
  readonly isCut: boolean;
  readonly pages: readonly ReadPage<Item>[];
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next?: string;
}

/** A page with what asked for it, and its tag: where nothing has changed it does not come again. */
interface ReadPage<Item> extends Page<Item> {
  readonly token: string | undefined;
  readonly tag: string | undefined;
}

/** A list of the API, page by page up to so many items, again each period. */
export const useList = <Item>(
  path: string,
  parameters: Parameters,
  most: number,
): Known<ReadList<Item>> => {
  const { api, refreshMs } = useSource();
  const ask: Ask<ReadList<Item>> = (before, signal) =>
    readList(api, path, parameters, { before: before?.pages ?? [], most, signal });
  return usePolled(`${path}?${JSON.stringify(parameters)}`, ask, refreshMs);
};

const knownPage = <Item>(
  had: ReadPage<Item> | undefined,
  token: string | undefined,
): ReadPage<Item> | undefined => (had?.token === token ? had : undefined);

const pageAfter = <Item>(
  outcome: Exclude<Outcome<Page<Item>>, { readonly kind: "failure" }>,
  token: string | undefined,
  known: ReadPage<Item> | undefined,
): ReadPage<Item> =>
  outcome.kind === "answer"
    ? { ...outcome.value, token, tag: outcome.tag }
    : (known ?? { items: [], token, tag: undefined });

const readList = async <Item>(
  api: Api,
  path: string,
  parameters: Parameters,
  {
    before,
    most,
    signal,
  }: {
    readonly before: readonly ReadPage<Item>[];
    readonly most: number;
    readonly signal: AbortSignal;
  },
): Promise<Outcome<ReadList<Item>>> => {
  const pages: ReadPage<Item>[] = [];
  let token: string | undefined;
  do {
    const asked = { ...parameters, page: token };
    const known = knownPage(before[pages.length], token);
    const outcome: Outcome<Page<Item>> = await api.get(path, asked, { signal, tag: known?.tag });
    if (outcome.kind === "failure") return outcome;
    pages.push(pageAfter(outcome, token, known));
    token = pages.at(-1)?.next;
  } while (token !== undefined && pages.reduce((sum, { items }) => sum + items.length, 0) < most);
  if (pages.length === before.length && pages.every((page, at) => page === before[at]))
    return { kind: "unchanged" };
  const value = { items: pages.flatMap(({ items }) => items), isCut: token !== undefined, pages };
  return { kind: "answer", value, tag: undefined };
};
