import { setTimeout as wait } from "node:timers/promises";
import { chooseTarget, TARGET_OPTIONS, type TargetOptions } from "../select/command-target.ts";
import type { Io, Session } from "../io.ts";
import { listedRows } from "../select/listed-autoscalers.ts";
import { toArray } from "../../service/to-array.ts";
import type { Named } from "./named-words.ts";

/** A person waits at the keyboard. */
const PATIENCE_MS = 2_000;
const AUTOSCALERS_MAX = 1_000;

type OpenIo = Pick<Io, "open" | "by" | "stackName" | "stackUrl">;

/** The names in the data folder or stack that the words choose, within two seconds. None where it cannot be opened: a shell must not print errors while a person types. */
export const readNames = (io: OpenIo, words: readonly string[]): Named => {
  const ask =
    <Name>(names: (service: Session["service"], words: readonly string[]) => Promise<readonly Name[]>) =>
    (): Promise<readonly Name[]> =>
      inTime(() => inSession(io, words, names));
  return {
    clusters: ask(async (service) => (await toArray(service.clusters())).map(({ name }) => name)),
    partitions: ask(async (service) =>
      (await toArray(service.clusters())).flatMap(({ name, partitions }) => partitions.map((partition) => `${name}/${partition.name}`)),
    ),
    namespaces: ask(async (service, said) => [...new Set((await autoscalersIn(service, said)).map(({ namespace }) => namespace))].sort()),
    autoscalers: ask(autoscalersIn),
    calendars: ask(async (service) => (await service.calendars()).map(({ name }) => name)),
    overrides: ask(overrideIds),
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

const inSession = async <Name>(
  io: OpenIo,
  words: readonly string[],
  names: (service: Session["service"], words: readonly string[]) => Promise<readonly Name[]>,
): Promise<readonly Name[]> => {
  const session = await io.open(chooseTarget(targetIn(words), io), io.by);
  try {
    return await names(session.service, words);
  } finally {
    await session.close();
  }
};

const autoscalersIn = async (service: Session["service"], words: readonly string[]) => {
  const cluster = valueIn(words, "--cluster");
  const namespace = valueIn(words, "-n", "--namespace");
  const filter = { ...(cluster !== undefined && { cluster }), ...(namespace !== undefined && { namespace }) };
  const autoscalers: { cluster: string; namespace: string; name: string }[] = [];
  for await (const row of listedRows(service, undefined, filter))
    if (autoscalers.push({ cluster: row.cluster, namespace: row.namespace, name: row.name }) === AUTOSCALERS_MAX) break;
  return autoscalers;
};

const overrideIds = async (service: Session["service"]): Promise<readonly string[]> => {
  const ids: string[] = [];
  for await (const { id, state } of service.overrides({})) if (state !== "expired" && ids.push(id) === AUTOSCALERS_MAX) break;
  return ids;
};

const targetIn = (words: readonly string[]): TargetOptions =>
  Object.fromEntries(
    TARGET_OPTIONS.flatMap((name) => {
      const value = valueIn(words, `--${name}`);
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** The value of an option: "--data DIR" or "--data=DIR". */
const valueIn = (words: readonly string[], ...flags: readonly string[]): string | undefined => {
  const at = words.findIndex((word) => flags.some((flag) => word === flag || word.startsWith(`${flag}=`)));
  const word = words[at];
  if (word === undefined) return undefined;
  return word.includes("=") ? word.slice(word.indexOf("=") + 1) : words[at + 1];
};
