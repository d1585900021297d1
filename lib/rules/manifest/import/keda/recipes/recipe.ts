import type { Json } from "../../../../model/json.ts";
import type { Detail } from "../../finding.ts";
import { changed, lost, textOf, withoutEffect } from "../../schedules/timed.ts";
import { NO_SUCH_FIELD, whyUnread } from "../unread-fields.ts";

/**
 * A trigger whose number a well-known exporter has in Prometheus. A recipe is one file here, and
 * one line of recipes.ts.
 */
export interface Recipe {
  /** For people: "kafka-exporter". */
  readonly exporter: string;
  /** PromQL of the number, with `target` in it where KEDA caps by it. */
  query(metadata: Json, target: string): string;
  /** The fields of the target, the first that is written counts; and its default in KEDA 2.21. */
  readonly target: { readonly fields: readonly string[]; readonly otherwise?: string };
  readonly activation: string;
  /** Fields without which there is no question. */
  readonly needed: readonly string[];
  /** Further fields that the query is made of. */
  readonly read: readonly string[];
  /** Fields of the connection: the exporter has its own. */
  readonly ofExporter: readonly string[];
  /** Fields that change the number in a way that the exporter's series do not have. */
  readonly refused: Readonly<Record<string, string>>;
  /** What else a person should know of these fields. */
  details?(metadata: Json, of: string): readonly Detail[];
  /** The same number in CloudWatch, where the server is one that AWS runs. */
  readonly managed?: ManagedMetric;
}

/** A metric that AWS keeps of the servers that it runs: `--source kafka=cloudwatch:NAME`. */
export interface ManagedMetric extends Pick<Recipe, "read" | "refused" | "details"> {
  /** For people: "Amazon MSK". */
  readonly service: string;
  readonly namespace: string;
  readonly metric: string;
  readonly stat: string;
  dimensions(metadata: Json): Readonly<Record<string, string>>;
}

/** A matcher of a label for a text: `queue="orders"`. */
export const label = (name: string, value: string): string => `${name}=${JSON.stringify(value)}`;

export const selector = (series: string, matchers: readonly (string | undefined)[]): string =>
  `${series}{${matchers.filter((matcher) => matcher !== undefined).join(",")}}`;

const FROM_ENV =
  "it is read from the environment of the pods, which Tidemark does not read; write the value itself";

/** Every field of the metadata is a part of the query, noted, or refused. */
const fieldDetails = (
  recipe: Pick<Recipe, "target" | "activation" | "read" | "ofExporter" | "refused">,
  { type, metadata, of }: RecipeTrigger,
  owner: string,
): readonly Detail[] => {
  const known = new Set([...recipe.target.fields, recipe.activation, ...recipe.read]);
  const ofExporter = new Set(recipe.ofExporter);
  const written = Object.keys(metadata).filter(
    (field) =>
      textOf(metadata[field]) !== undefined &&
      !known.has(field) &&
      whyUnread(type, field) === undefined,
  );
  return written.map((field): Detail => {
    const place = `${of}: ${field}`;
    const plain = field.replace(/FromEnv$/, "");
    if (ofExporter.has(plain))
      return changed(place, `it belongs to the ${owner}, and is not in the manifest`);
    if (field !== plain) return lost(place, FROM_ENV);
    const refused = Object.hasOwn(recipe.refused, field) ? recipe.refused[field] : undefined;
    if (refused === undefined) return withoutEffect(place, NO_SUCH_FIELD);
    return isOff(metadata[field])
      ? withoutEffect(place, "it is off, as it is by default")
      : lost(place, refused);
  });
};

/** KEDA reads a flag as Go reads a bool. */
const isOff = (value: unknown): boolean => /^(?:0|f|F|false|False|FALSE)$/.test(String(value));

/**
 * Without one of these fields KEDA takes no trigger, and a query would be of every series. One that
 * is read from the environment is refused by its own name.
 */
const absentDetails = ({ needed }: Recipe, { metadata, of }: RecipeTrigger): readonly Detail[] =>
  needed
    .filter((field) => textOf(metadata[field]) === undefined && !(`${field}FromEnv` in metadata))
    .map((field) => lost(`${of}: ${field}`, "it is not written, and KEDA needs it, too"));

interface RecipeTrigger {
  readonly type: string;
  readonly metadata: Json;
  readonly of: string;
}

interface RecipeBlock {
  readonly block: Json;
  readonly target: string | undefined;
  readonly activation: string | undefined;
  readonly details: readonly Detail[];
}

const levelsOf = (
  { target: { fields, otherwise }, activation }: Recipe,
  { metadata }: RecipeTrigger,
): Pick<RecipeBlock, "target" | "activation"> => ({
  target:
    fields.map((field) => textOf(metadata[field])).find((text) => text !== undefined) ?? otherwise,
  activation: textOf(metadata[activation]),
});

/** The block of a metric that asks a Prometheus for what the trigger asks its server. */
export const blockByRecipe = (
  recipe: Recipe,
  trigger: RecipeTrigger,
  source: string,
): RecipeBlock => {
  const { metadata, of } = trigger;
  const levels = levelsOf(recipe, trigger);
  return {
    ...levels,
    block: { prometheus: { source, query: recipe.query(metadata, levels.target ?? "1") } },
    details: [
      changed(
        of,
        `it becomes a query of the series of ${recipe.exporter} in the Prometheus "${source}": look that it finds them`,
      ),
      ...absentDetails(recipe, trigger),
      ...fieldDetails(recipe, trigger, "exporter"),
      ...(recipe.details?.(metadata, of) ?? []),
    ],
  };
};

/** AWS puts a value there each minute, and some minutes late. */
const MANAGED_PERIOD_S = 60;
const MANAGED_LOOKBACK_S = 300;

/** The block of a metric that asks CloudWatch for what the trigger asks its server. */
const blockByManaged = (recipe: Recipe, trigger: RecipeTrigger, source: string): RecipeBlock => {
  const { metadata, of, type } = trigger;
  const { managed } = recipe;
  const levels = levelsOf(recipe, trigger);
  if (managed === undefined)
    return {
      ...levels,
      block: {},
      details: [
        lost(
          of,
          `the type "${type}" has no metric in CloudWatch that its fields name; name a Prometheus with the series of ${recipe.exporter}: --source ${type}=prometheus:NAME`,
        ),
      ],
    };
  const { service, namespace, metric, stat } = managed;
  return {
    ...levels,
    block: {
      cloudwatch: {
        ...{ source, namespace, metric, stat, dimensions: managed.dimensions(metadata) },
        ...{ periodSeconds: MANAGED_PERIOD_S, lookbackSeconds: MANAGED_LOOKBACK_S },
      },
    },
    details: [
      changed(
        of,
        `it becomes the metric ${metric} of ${service} in CloudWatch, which has a value a minute: look that it is there, and what it costs (docs/cost.md)`,
      ),
      ...absentDetails(recipe, trigger),
      ...fieldDetails({ ...recipe, ...managed }, trigger, "registered source"),
      ...(managed.details?.(metadata, of) ?? []),
    ],
  };
};

/** How the number of a recipe is asked for, by the kind of the source that is named for it. */
export const BLOCKS: ReadonlyMap<string, typeof blockByRecipe> = new Map([
  ["prometheus", blockByRecipe],
  ["cloudwatch", blockByManaged],
]);
