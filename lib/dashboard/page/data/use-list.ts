import type { Api, Outcome, Parameters } from "./request.ts";
import { type Ask, type Known, usePolled, useSource } from "./use-document.ts";

/** A list as far as it was read. */
export interface ReadList<Item> {
  readonly items: readonly Item[];
  /** True where there is more than was asked for. */
  readonly isCut: boolean;
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next?: string;
}

/** A list of the API, page by page up to so many items, again each period. */
export const useList = <Item>(
  path: string,
  parameters: Parameters,
  most: number,
): Known<ReadList<Item>> => {
  const { api, refreshMs } = useSource();
  const ask: Ask<ReadList<Item>> = (_before, signal) =>
    readList(api, path, parameters, { most, signal });
  return usePolled(`${path}?${JSON.stringify(parameters)}`, ask, refreshMs);
};

const readList = async <Item>(
  api: Api,
  path: string,
  parameters: Parameters,
  { most, signal }: { readonly most: number; readonly signal: AbortSignal },
): Promise<Outcome<ReadList<Item>>> => {
  const items: Item[] = [];
  let page: string | undefined;
  do {
    const outcome: Outcome<Page<Item>> = await api.get(path, { ...parameters, page }, { signal });
    if (outcome.kind !== "answer") return outcome;
    items.push(...outcome.value.items);
    page = outcome.value.next;
  } while (page !== undefined && items.length < most);
  return { kind: "answer", value: { items, isCut: page !== undefined }, tag: undefined };
};
