import { setTimeout as wait } from "node:timers/promises";
import { findFolder } from "../../local/folder/folder-lock.ts";
import { folderLayout } from "../../local/folder/layout.ts";
import { type NamedAutoscaler, quickNames } from "../../local/folder/names.ts";
import { QUERY_PATHS } from "../../api/paths.ts";
import { asList, asObject, asText, type Json } from "../../model/json.ts";
import type { SendRequest } from "../../remote/send-request.ts";
import type { Io, Session } from "../io.ts";
import { type CommandTarget, chooseTarget, TARGET_OPTIONS, type TargetOptions } from "../select/command-target.ts";

/** The names of a data folder or a stack, each kind read when it is asked for. */
interface Names {
  readonly clusters: () => Promise<readonly string[]>;
  readonly partitions: () => Promise<readonly string[]>;
  readonly calendars: () => Promise<readonly string[]>;
  /** Ids of overrides that have not expired. */
  readonly overrides: () => Promise<readonly string[]>;
  readonly autoscalers: () => Promise<readonly NamedAutoscaler[]>;
}

export interface Named extends Names {
  readonly namespaces: () => Promise<readonly string[]>;
}

/** A person waits at the keyboard. */
const PATIENCE_MS = 2_000;
const NAMES_MAX = 1_000;

type OpenIo = Pick<Io, "open" | "by" | "stackName" | "stackUrl">;

/** What the words before the cursor choose. */
interface Scope {
  readonly target: CommandTarget;
  readonly filter: { readonly cluster?: string; readonly namespace?: string };
}

/**
 * The names in the data folder or stack that the words choose, within two seconds. None where it cannot be opened: a shell must not print errors while a person types. A session loads several times as much code as the
 * rest of a completion, so it is opened only where the names are not known without one.
 */
export const readNames = (io: OpenIo, words: readonly string[]): Named => {
  const read =
    <Name>(kind: (names: Partial<Names>) => (() => Promise<readonly Name[]>) | undefined) =>
    (): Promise<readonly Name[]> =>
      inTime(async () => {
        const scope = scopeIn(io, words);
        const known = kind(await withoutSession(scope));
        return known ? known() : inSession(io, scope, async (names) => (await kind(names)?.()) ?? []);
      });
  const autoscalers = read(({ autoscalers: all }) => all);
  return {
    clusters: read(({ clusters }) => clusters),
    partitions: read(({ partitions }) => partitions),
    calendars: read(({ calendars }) => calendars),
    overrides: read(({ overrides }) => overrides),
    autoscalers,
    namespaces: async () => [...new Set((await autoscalers()).map(({ namespace }) => namespace))].sort(),
  };
};

const inTime = async <Name>(read: () => Promise<readonly Name[]>): Promise<readonly Name[]> => {
  const late = new AbortController();
  try {
    return await Promise.race([read(), wait(PATIENCE_MS, [], { signal: late.signal, ref: false })]);
  } catch {
    return [];
  } finally {
    late.abort();
  }
};

const scopeIn = (io: OpenIo, words: readonly string[]): Scope => {
  const options = TARGET_OPTIONS.flatMap((name) => {
    const value = valueIn(words, `--${name}`);
    return value === undefined ? [] : [[name, value]];
  });
  const cluster = valueIn(words, "--cluster");
  const namespace = valueIn(words, "-n", "--namespace");
  return {
    target: chooseTarget(Object.fromEntries(options) as TargetOptions, io),
    filter: { ...(cluster !== undefined && { cluster }), ...(namespace !== undefined && { namespace }) },
  };
};

/** The value of an option: "--data DIR" or "--data=DIR". */
const valueIn = (words: readonly string[], ...flags: readonly string[]): string | undefined => {
  const at = words.findIndex((word) => flags.some((flag) => word === flag || word.startsWith(`${flag}=`)));
  const word = words[at];
  if (word === undefined) return undefined;
  return word.includes("=") ? word.slice(word.indexOf("=") + 1) : words[at + 1];
};

const withoutSession = async ({ target, filter }: Scope): Promise<Partial<Names>> => {
  if (target.kind === "folder") return inFolder(target, filter);
  return ofStack(await senderTo(target), filter);
};

const inFolder = async ({ dir, from }: CommandTarget & { readonly kind: "folder" }, filter: Scope["filter"]): Promise<Partial<Names>> => {
  const search = from === "default" ? findFolder() : { kind: "one" as const, dir };
  if (search.kind === "several") return {};
  const names = await quickNames(folderLayout(search.dir), { ...filter, most: NAMES_MAX });
  if (!names) return {};
  return {
    clusters: async () => names.clusters,
    partitions: async () => names.partitions,
    calendars: async () => names.calendars,
    overrides: async () => names.overrides.map(({ id }) => id),
    autoscalers: async () => names.autoscalers,
  };
};

/** Sends queries to a stack as a session does (stack-session.ts), but never twice. */
const senderTo = async (target: Exclude<CommandTarget, { readonly kind: "folder" }>): Promise<SendRequest> => {
  const [{ defaultCaller }, { findStack, stackUrl }, { requestSender }] = await Promise.all([
    import("../../remote/caller.ts"),
    import("../../remote/find-stack.ts"),
    import("../../remote/send-request.ts"),
  ]);
  const stack = target.kind === "stack" ? stackUrl(target.url, target.from) : (await findStack(target)).view;
  const once = () => Promise.reject(new Error("a completion asks once"));
  return requestSender({
    stack,
    caller: defaultCaller(stack.region, target.profile),
    clock: Date.now,
    wait: once,
    random: Math.random,
    deadlineMs: PATIENCE_MS,
  });
};

/** The paths are those of the service (lib/api/paths.ts). The answers are read as far as names go, whatever else another version answers. */
const ofStack = (ask: SendRequest, filter: Scope["filter"]): Names => {
  const get = async (path: string, query: Readonly<Record<string, string>> = {}): Promise<Json> =>
    asObject(await ask({ method: "GET", path, query, headers: {} }));
  const items = async <Name>(
    path: string,
    query: Readonly<Record<string, string>>,
    namesIn: (item: Json) => readonly Name[],
  ): Promise<readonly Name[]> => {
    const names: Name[] = [];
    for (let page = ""; ; ) {
      const answer = await get(path, { ...query, ...(page !== "" && { page }) });
      names.push(...asList(answer["items"]).flatMap((item) => namesIn(asObject(item))));
      page = asText(answer["next"]);
      if (page === "" || names.length >= NAMES_MAX) return names.slice(0, NAMES_MAX);
    }
  };
  return {
    clusters: () => items(QUERY_PATHS.clusters, {}, ({ name }) => [asText(name)]),
    partitions: () =>
      items(QUERY_PATHS.clusters, {}, ({ name, partitions }) => namesOf(partitions).map((partition) => `${asText(name)}/${partition}`)),
    calendars: async () => namesOf((await get(QUERY_PATHS.calendars))["calendars"]),
    overrides: () => items(QUERY_PATHS.overrides, { expired: "no" }, ({ id }) => [asText(id)]),
    autoscalers: () =>
      items(QUERY_PATHS.rows, { ...filter, fields: "kind" }, ({ cluster, rows }) =>
        asList(rows).map((row) => ({ cluster: asText(cluster), namespace: asText(asObject(row)["namespace"]), name: asText(asObject(row)["name"]) })),
      ),
  };
};

const namesOf = (list: unknown): readonly string[] => asList(list).map((each) => asText(asObject(each)["name"]));

const inSession = async <Name>(io: OpenIo, { target, filter }: Scope, read: (names: Names) => Promise<readonly Name[]>): Promise<readonly Name[]> => {
  const session = await io.open(target, io.by);
  try {
    return await read(ofService(session.service, filter));
  } finally {
    await session.close();
  }
};

const ofService = (service: Session["service"], filter: Scope["filter"]): Names => ({
  clusters: async () => (await Array.fromAsync(service.clusters())).map(({ name }) => name),
  partitions: async () =>
    (await Array.fromAsync(service.clusters())).flatMap(({ name, partitions }) => partitions.map((partition) => `${name}/${partition.name}`)),
  calendars: async () => (await service.calendars()).map(({ name }) => name),
  overrides: () => most(service.overrides({ expired: "no" }), ({ id }) => [id]),
  autoscalers: () =>
    most(service.rows({ ...filter, fields: ["kind"] }), ({ cluster, rows }) => rows.map(({ namespace, name }) => ({ cluster, namespace, name }))),
});

const most = async <Item, Name>(all: AsyncIterable<Item>, namesIn: (item: Item) => readonly Name[]): Promise<readonly Name[]> => {
  const names: Name[] = [];
  for await (const item of all) {
    names.push(...namesIn(item));
    if (names.length >= NAMES_MAX) break;
  }
  return names.slice(0, NAMES_MAX);
};
