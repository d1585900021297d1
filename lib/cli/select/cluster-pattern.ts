import pLimit from "p-limit";
import { isTidemarkError, TidemarkError } from "../../model/errors.ts";
import type { Service } from "../../service/service.ts";
import { mustHaveKind, type Resource } from "./selected-names.ts";

/** Clusters that are looked into at the same time for a name. */
const SIDE_BY_SIDE = 8;

/** Names in a message; the others are counted. */
const SHOWN_MAX = 10;

const pattern = (glob: string): RegExp =>
  new RegExp(`^${[...glob].map((letter) => (letter === "*" ? ".*" : letter === "?" ? "." : letter.replace(/[^\w-]/g, "\\$&"))).join("")}$`);

/** The clusters whose names match one of the patterns of `--clusters`: "prod-*" or "prod-*,eu-1". Throws `service.unknown` where a pattern matches none. */
export const clustersMatching = async (service: Pick<Service, "clusters">, globs: string): Promise<ReadonlySet<string>> => {
  const names: string[] = [];
  for await (const { name } of service.clusters()) names.push(name);
  const chosen = globs.split(",").flatMap((glob) => {
    const test = pattern(glob.trim());
    const matches = names.filter((name) => test.test(name));
    if (matches.length === 0) throw unmatched(glob.trim(), names);
    return matches;
  });
  return new Set(chosen.sort());
};

const unmatched = (glob: string, names: readonly string[]): TidemarkError => {
  const shown = names.slice(0, SHOWN_MAX).map((name) => `"${name}"`);
  const more = names.length > SHOWN_MAX ? ` and ${names.length - SHOWN_MAX} more` : "";
  const there = names.length === 0 ? "there is none" : `there are ${shown.join(", ")}${more}`;
  return new TidemarkError("service.unknown", `Cannot find a cluster that matches --clusters "${glob}": ${there}`, { glob });
};

/** Each resource in each of the clusters that has it. Throws `service.unknown` for one that none of them has. */
export const resourcesInClusters = async (
  service: Pick<Service, "get" | "clusters">,
  resources: readonly Resource[],
  globs: string,
): Promise<readonly Resource[]> => {
  const clusters = [...(await clustersMatching(service, globs))];
  const limit = pLimit(SIDE_BY_SIDE);
  const all: Resource[] = [];
  for (const resource of resources) {
    const looked = await limit.map(clusters, async (cluster) =>
      (await exists(service, { ...resource, cluster })) ? [{ ...resource, cluster }] : [],
    );
    if (looked.flat().length === 0)
      throw new TidemarkError("service.unknown", `Cannot find "${resource.name}" in a cluster that matches --clusters "${globs}"`, resource);
    all.push(...looked.flat());
  }
  return all;
};

/** False where the cluster has none of that name and kind. Any other failure is thrown. */
const exists = async (service: Pick<Service, "get">, { kind, ...query }: Resource): Promise<boolean> => {
  try {
    mustHaveKind(await service.get(query), kind);
    return true;
  } catch (error) {
    if (isTidemarkError(error, "service.unknown") || isTidemarkError(error, "cli.other-kind")) return false;
    throw error;
  }
};
