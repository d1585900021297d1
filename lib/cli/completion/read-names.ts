import { setTimeout as wait } from "node:timers/promises";
import { chooseTarget, TARGET_OPTIONS, type TargetOptions } from "../select/command-target.ts";
import type { Io, Session } from "../io.ts";
import { listedRows } from "../select/listed-autoscalers.ts";
import type { Named } from "./named-words.ts";

/** A person waits at the keyboard. */
const PATIENCE_MS = 2_000;
const AUTOSCALERS_MAX = 1_000;

const NOTHING: Named = { clusters: [], namespaces: [], partitions: [], calendars: [], overrides: [], autoscalers: [] };

/** The names in the data folder or stack that the words choose, within two seconds. None where it cannot be opened: a shell must not print errors while a person types. */
export const readNames = async (io: Pick<Io, "open" | "by" | "stackName" | "stackUrl">, words: readonly string[]): Promise<Named> => {
  const late = new AbortController();
  try {
    return await Promise.race([namesIn(io, words), wait(PATIENCE_MS, NOTHING, { signal: late.signal, ref: false })]);
  } catch {
    return NOTHING;
  } finally {
    late.abort();
  }
};

const namesIn = async (io: Pick<Io, "open" | "by" | "stackName" | "stackUrl">, words: readonly string[]): Promise<Named> => {
  const session = await io.open(chooseTarget(targetIn(words), io), io.by);
  try {
    const { service } = session;
    const clusters: string[] = [];
    const partitions: string[] = [];
    for await (const { name, partitions: parts } of service.clusters()) {
      clusters.push(name);
      partitions.push(...parts.map((part) => `${name}/${part.name}`));
    }
    const cluster = valueIn(words, "--cluster");
    const namespace = valueIn(words, "-n", "--namespace");
    const autoscalers: { cluster: string; namespace: string; name: string }[] = [];
    const filter = { ...(cluster !== undefined && { cluster }), ...(namespace !== undefined && { namespace }) };
    for await (const row of listedRows(service, undefined, filter))
      if (autoscalers.push({ cluster: row.cluster, namespace: row.namespace, name: row.name }) === AUTOSCALERS_MAX) break;
    const calendars = words.includes("calendar") ? (await service.calendars()).map(({ name }) => name) : [];
    const overrides = words.includes("override") ? await overrideIds(service) : [];
    return { clusters, partitions, calendars, overrides, autoscalers, namespaces: [...new Set(autoscalers.map((each) => each.namespace))].sort() };
  } finally {
    await session.close();
  }
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
