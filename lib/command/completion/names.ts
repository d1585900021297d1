import { setTimeout as wait } from "node:timers/promises";
import { findFolder } from "../../embedded/folder/folder-lock.ts";
import { folderLayout } from "../../embedded/layout.ts";
import { type NamedAutoscaler, quickNames } from "../../embedded/folder/names.ts";
import { present } from "../../rules/model/json.ts";
import type { Io, Session } from "../io.ts";
import {
  type CommandTarget,
  chooseTarget,
  TARGET_OPTIONS,
  type TargetOptions,
} from "../select/command-target.ts";

/**
 * The names of a data folder or a stack, each kind read when it is asked for; of overrides the ids
 * of those that have not expired.
 */
type Names = { readonly [Kind in keyof NamesOf]: () => Promise<readonly NamesOf[Kind][]> };
type NamesOf = Record<"clusters" | "partitions" | "calendars" | "overrides", string> & {
  readonly autoscalers: NamedAutoscaler;
};

export type Named = Names & { readonly namespaces: () => Promise<readonly string[]> };

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
 * The names in the data folder or stack that the words choose, within two seconds. None where it
 * cannot be opened: a shell must not print errors while a person types. A session loads several
 * times as much code as the rest of a completion, so it is opened only where the names are not
 * known without one.
 */
export const readNames = (io: OpenIo, words: readonly string[]): Named => {
  const read =
    <Kind extends keyof Names>(kind: Kind) =>
    (): Promise<readonly NamesOf[Kind][]> =>
      inTime(async () => {
        const scope = scopeIn(io, words);
        const known: Names[Kind] | undefined = (await withoutSession(scope))[kind];
        return known ? known() : inSession(io, scope, (names) => names[kind]());
      });
  const autoscalers = read("autoscalers");
  return {
    clusters: read("clusters"),
    partitions: read("partitions"),
    calendars: read("calendars"),
    overrides: read("overrides"),
    autoscalers,
    namespaces: async () =>
      [...new Set((await autoscalers()).map(({ namespace }) => namespace))].sort(),
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
  const options: TargetOptions = present(
    Object.fromEntries(TARGET_OPTIONS.map((name) => [name, valueIn(words, `--${name}`)])),
  );
  const filter = present({
    cluster: valueIn(words, "--cluster"),
    namespace: valueIn(words, "-n", "--namespace"),
  });
  return { target: chooseTarget(options, io), filter };
};

/** The value of an option: "--data DIR" or "--data=DIR". */
const valueIn = (words: readonly string[], ...flags: readonly string[]): string | undefined => {
  const at = words.findIndex((word) =>
    flags.some((flag) => word === flag || word.startsWith(`${flag}=`)),
  );
  const word = words[at];
  if (word === undefined) return undefined;
  return word.includes("=") ? word.slice(word.indexOf("=") + 1) : words[at + 1];
};

const withoutSession = async ({ target, filter }: Scope): Promise<Partial<Names>> => {
  if (target.kind === "folder") return inFolder(target, filter);
  const [{ namesOfStack }, { findStack, stackUrl }] = await Promise.all([
    import("../../answers/remote/names.ts"),
    import("../../answers/remote/find-stack.ts"),
  ]);
  const stack =
    target.kind === "stack"
      ? stackUrl(target.url, target.from)
      : (await findStack({ ...target, withinMs: PATIENCE_MS })).view;
  const { profile } = target;
  return namesOfStack(stack, {
    ...filter,
    ...(profile !== undefined && { profile }),
    most: NAMES_MAX,
    withinMs: PATIENCE_MS,
  });
};

const inFolder = async (
  { dir, from }: CommandTarget & { readonly kind: "folder" },
  filter: Scope["filter"],
): Promise<Partial<Names>> => {
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

const inSession = async <Name>(
  io: OpenIo,
  { target, filter }: Scope,
  read: (names: Names) => Promise<readonly Name[]>,
): Promise<readonly Name[]> => {
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
    (await Array.fromAsync(service.clusters())).flatMap(({ name, partitions }) =>
      partitions.map((partition) => `${name}/${partition.name}`),
    ),
  calendars: async () => (await service.calendars()).map(({ name }) => name),
  overrides: () => most(service.overrides({ expired: "no" }), ({ id }) => [id]),
  autoscalers: () =>
    most(service.rows({ ...filter, fields: ["kind"] }), ({ cluster, rows }) =>
      rows.map(({ namespace, name }) => ({ cluster, namespace, name })),
    ),
});

const most = async <Item, Name>(
  all: AsyncIterable<Item>,
  namesIn: (item: Item) => readonly Name[],
): Promise<readonly Name[]> => {
  const names: Name[] = [];
  for await (const item of all) {
    names.push(...namesIn(item));
    if (names.length >= NAMES_MAX) break;
  }
  return names.slice(0, NAMES_MAX);
};
