import { TidemarkError } from "../../rules/model/errors.ts";
import type { AutoscalerQuery, Filter, Service } from "../../answers/service/service.ts";
import { mapWithLimit } from "../../stack/store/table/wait-for-all.ts";
import type { AutoscalerView } from "../../answers/views/autoscaler.ts";
import { kindOf } from "../output/documents.ts";
import { unlessFailed, usage } from "../usage-error.ts";

/** One autoscaler that a command names. With `kind` it is meant only if it has that kind. */
export interface NamedAutoscalerOfKind extends Filter {
  readonly name: string;
  readonly kind?: string;
}

/**
 * What the words after a command select. Without resources every autoscaler is meant, or every one
 * of the kinds.
 */
export interface Selection {
  readonly kinds?: readonly string[];
  readonly resources: readonly NamedAutoscalerOfKind[];
}

/**
 * The words of kubectl for each kind; the group can follow, as in "podautoscalers.tidemark.dev".
 */
const KINDS = [
  { kind: "PodAutoscaler", words: /^(pas?|podautoscalers?)(\.(v\w+\.)?tidemark\.dev)?$/i },
  {
    kind: "HorizontalPodAutoscaler",
    words: /^(hpas?|horizontalpodautoscalers?)(\.(v\w+\.)?autoscaling)?$/i,
  },
  {
    kind: "WatermarkPodAutoscaler",
    words: /^(wpas?|watermarkpodautoscalers?)(\.(v\w+\.)?datadoghq\.com)?$/i,
  },
] as const;

export const kindNamed = (word: string): string | undefined =>
  KINDS.find(({ words }) => words.test(word))?.kind;

/**
 * "pa.spec.maxReplicas" names a field of a PodAutoscaler, as `kubectl explain` reads it; undefined
 * for the name of an autoscaler. Throws a usage error for a field of another kind.
 */
export const schemaField = (word: string): string | undefined => {
  const [kind = "", part = ""] = word.split(".");
  if (kindNamed(kind) === undefined || !["spec", "status", "metadata"].includes(part))
    return undefined;
  if (kindNamed(kind) === "PodAutoscaler") return word.slice(kind.length + 1);
  throw usage(
    `Cannot explain the field "${word}": its API documents it; call kubectl explain ${word}`,
  );
};

/** The kinds of "hpa" and of "hpa,wpa"; undefined for every other word. */
const kindsNamed = (word: string): readonly string[] | undefined => {
  const kinds = word.split(",").flatMap((part) => kindNamed(part) ?? []);
  return kinds.length === word.split(",").length ? kinds : undefined;
};

/**
 * Reads "web api", "hpa web api", "hpa/web wpa/api", "hpa" and "hpa,wpa". A path with three parts
 * has no type.
 */
export const selectionOf = (words: readonly string[], filter: Filter): Selection => {
  const [first = "", ...rest] = words;
  const kinds = kindsNamed(first);
  if (kinds === undefined)
    return { resources: words.map((word) => ({ ...filter, ...resourceOf(word) })) };
  const [kind = first, ...more] = kinds;
  if (more.length > 0 && rest.length > 0)
    throw usage(`Cannot read "${words.join(" ")}": give one type before names`);
  const typed = rest.find((word) => resourceOf(word).kind !== undefined);
  if (typed !== undefined)
    throw usage(
      `Cannot read "${first} ${typed}": write ${first} once, or ${first}/NAME for each name`,
    );
  return { kinds, resources: rest.map((name) => ({ ...filter, name, kind })) };
};

/** Like `selectionOf`, for a command that needs a name. */
export const namedResources = (
  words: readonly string[],
  filter: Filter,
): readonly NamedAutoscalerOfKind[] => {
  const { resources } = selectionOf(words, filter);
  if (resources.length === 0)
    throw usage(
      `Cannot choose an autoscaler: give its name, such as ${words[0] ?? "web"}${words[0] ? "/web" : ""}`,
    );
  return resources;
};

/** The one autoscaler that a command takes: "web", "hpa/web" or "hpa web". */
export const oneResource = (
  command: string,
  words: readonly string[],
  filter: Filter,
): NamedAutoscalerOfKind => {
  const [resource, ...more] = namedResources(words, filter);
  if (!resource || more.length > 0)
    throw usage(`Cannot ${command} ${more.length + 1} autoscalers at once: give one name`);
  return resource;
};

const resourceOf = (word: string): NamedAutoscalerOfKind => {
  const [type = "", name, ...more] = word.split("/");
  const kind = name === undefined || more.length > 0 ? undefined : kindNamed(type);
  return name !== undefined && kind !== undefined ? { name, kind } : { name: word };
};

/**
 * What names one autoscaler to the service. An edit of another kind than the one that was meant is
 * refused before it is made.
 */
export const queryFor = async (
  service: Pick<Service, "get">,
  resource: NamedAutoscalerOfKind,
): Promise<AutoscalerQuery> => {
  const { kind, ...query } = resource;
  if (kind === undefined) return query;
  const { cluster, namespace, name } = await viewOf(service, resource);
  return { cluster, namespace, name };
};

/**
 * The same for events and edits of the past, which a deleted autoscaler has too: its kind is not
 * known any more.
 */
export const queryForPast = async (
  service: Pick<Service, "get">,
  resource: NamedAutoscalerOfKind,
): Promise<AutoscalerQuery> => {
  const { kind: _kind, ...query } = resource;
  return (await unlessFailed(queryFor(service, resource), "service.unknown")) ?? query;
};

/** The autoscaler that a command names. Throws `service.unknown`, `cli.other-kind`. */
export const viewOf = async (
  service: Pick<Service, "get">,
  { kind, ...query }: NamedAutoscalerOfKind,
): Promise<AutoscalerView> => mustHaveKind(await service.get(query), kind);

/** The errors of a name that stands for nothing, or for an autoscaler of another kind. */
export const ABSENT_CODES = ["service.unknown", "cli.other-kind"] as const;

/** Throws `cli.other-kind` if the autoscaler has another kind than the one that was meant. */
export const mustHaveKind = <View extends AutoscalerView>(
  view: View,
  kind: string | undefined,
): View => {
  const own = kindOf(view);
  if (kind === undefined || own === kind) return view;
  const { cluster, namespace, name } = view;
  const message = `Cannot find ${kind} "${name}": "${name}" in namespace "${namespace}" of cluster "${cluster}" is a ${own}`;
  throw new TidemarkError("cli.other-kind", message, { cluster, namespace, name, kind: own });
};

/** Clusters that are looked into at the same time for a name. */
const SIDE_BY_SIDE = 8;

/** Names in a message; the others are counted. */
const SHOWN_MAX = 10;

const pattern = (glob: string): RegExp =>
  new RegExp(
    `^${[...glob].map((letter) => (letter === "*" ? ".*" : letter === "?" ? "." : letter.replace(/[^\w-]/g, "\\$&"))).join("")}$`,
  );

/**
 * The clusters whose names match one of the patterns of `--clusters`: "prod-*" or "prod-*,eu-1".
 * Throws `service.unknown` where a pattern matches none.
 */
export const clustersMatching = async (
  service: Pick<Service, "clusters">,
  globs: string,
): Promise<ReadonlySet<string>> => {
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

/** The first names in quotes; the others are counted. */
export const namesText = (names: readonly (string | undefined)[], most: number): string => {
  const shown = names.slice(0, most).map((name) => `"${name}"`);
  return `${shown.join(", ")}${names.length > most ? ` and ${names.length - most} more` : ""}`;
};

const unmatched = (glob: string, names: readonly string[]): TidemarkError => {
  const there = names.length === 0 ? "there is none" : `there are ${namesText(names, SHOWN_MAX)}`;
  return new TidemarkError(
    "service.unknown",
    `Cannot find a cluster that matches --clusters "${glob}": ${there}`,
    { glob },
  );
};

/**
 * Each resource in each of the clusters that has it. Throws `service.unknown` for one that none of
 * them has.
 */
export const resourcesInClusters = async (
  service: Pick<Service, "get" | "clusters">,
  resources: readonly NamedAutoscalerOfKind[],
  globs: string,
): Promise<readonly NamedAutoscalerOfKind[]> => {
  const clusters = [...(await clustersMatching(service, globs))];
  const all: NamedAutoscalerOfKind[] = [];
  for (const resource of resources) {
    const looked = await mapWithLimit(clusters, SIDE_BY_SIDE, async (cluster) =>
      (await unlessFailed(viewOf(service, { ...resource, cluster }), ...ABSENT_CODES))
        ? [{ ...resource, cluster }]
        : [],
    );
    if (looked.flat().length === 0)
      throw new TidemarkError(
        "service.unknown",
        `Cannot find "${resource.name}" in a cluster that matches --clusters "${globs}"`,
        resource,
      );
    all.push(...looked.flat());
  }
  return all;
};
