import { QUERY_PATHS } from "../api/paths.ts";
import { asList, asObject, asText, type Json, present } from "../../rules/model/json.ts";
import { defaultCaller } from "./caller.ts";
import type { StackUrl } from "./find-stack.ts";
import { requestSender } from "./send-request.ts";

export interface NamesWanted {
  readonly cluster?: string;
  readonly namespace?: string;
  readonly profile?: string;
  readonly most: number;
  /** How long one answer may take. */
  readonly withinMs: number;
}

type Query = Readonly<Record<string, string>>;

/**
 * The names in a stack, for the completion of a shell: each kind is one query, sent once. Answers
 * are read as far as names go, whatever else another version answers. Their schemas are not loaded:
 * they take longer to load than the rest of a completion (lib/answers/remote/service.ts has the
 * whole service).
 */
export const namesOfStack = (
  stack: StackUrl,
  { cluster, namespace, profile, most, withinMs }: NamesWanted,
) => {
  const ask = requestSender({
    stack,
    caller: defaultCaller(stack.region, profile),
    clock: Date.now,
    wait: () => Promise.reject(new Error("a completion asks once")),
    random: Math.random,
    deadlineMs: withinMs,
  });
  const get = async (path: string, query: Query = {}): Promise<Json> =>
    asObject(await ask({ method: "GET", path, query, headers: {} }));
  const pages = async <Name>(
    path: string,
    query: Query,
    namesIn: (item: Json) => readonly Name[],
  ): Promise<readonly Name[]> => {
    const names: Name[] = [];
    for (let page = ""; ; ) {
      const answer = await get(path, { ...query, ...(page !== "" && { page }) });
      names.push(...asList(answer["items"]).flatMap((item) => namesIn(asObject(item))));
      page = asText(answer["next"]);
      if (page === "" || names.length >= most) return names.slice(0, most);
    }
  };
  const filter = present({ cluster, namespace });
  return {
    clusters: () => pages(QUERY_PATHS.clusters, {}, ({ name }) => [asText(name)]),
    partitions: () =>
      pages(QUERY_PATHS.clusters, {}, ({ name, partitions }) =>
        namesIn(partitions).map((partition) => `${asText(name)}/${partition}`),
      ),
    calendars: async () => namesIn((await get(QUERY_PATHS.calendars))["calendars"]),
    overrides: () => pages(QUERY_PATHS.overrides, { expired: "no" }, ({ id }) => [asText(id)]),
    autoscalers: () =>
      // A kind is in the index of names: no summary is read for it.
      pages(QUERY_PATHS.rows, { ...filter, fields: "kind" }, ({ cluster: of, rows }) =>
        asList(rows)
          .map(asObject)
          .map((row) => ({
            cluster: asText(of),
            namespace: asText(row["namespace"]),
            name: asText(row["name"]),
          })),
      ),
  };
};

const namesIn = (list: unknown): readonly string[] =>
  asList(list).map((each) => asText(asObject(each)["name"]));
