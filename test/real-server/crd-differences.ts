import { readFileSync } from "node:fs";
import { COMPLETE } from "../manifest/native/altered.ts";
import { document, METRIC, metric } from "../manifest/native/contradictions.ts";

/**
 * A manifest on which `tidemark apply` and the API server differ, by the row of
 * docs/specs-in-cluster.md that says so.
 */
export interface Difference {
  readonly row: string;
  readonly refusedBy: "apply" | "server";
  readonly examples: readonly object[];
  /** True where the row explains a difference on the manifest. */
  readonly covers: (manifest: unknown) => boolean;
}

const everyValue = (value: unknown): readonly unknown[] =>
  typeof value === "object" && value !== null
    ? [value, ...Object.values(value).flatMap(everyValue)]
    : [value];

const hasNullItem = (manifest: unknown): boolean =>
  everyValue(manifest).some((value) => Array.isArray(value) && value.includes(null));

const withSlash = (manifest: unknown): boolean => {
  const { spec } = manifest as {
    readonly spec?: {
      readonly rules?: unknown;
      readonly scaleTargetRef?: { readonly kind?: unknown; readonly name?: unknown };
    };
  };
  return (
    spec?.rules === "watermark" &&
    [spec.scaleTargetRef?.kind, spec.scaleTargetRef?.name].some((name) => /[/%]/.test(String(name)))
  );
};

const hasNoSuchTime = (manifest: unknown): boolean => {
  const { spec } = manifest as { readonly spec?: { readonly schedule?: unknown } };
  return everyValue(spec?.schedule).some((value) => {
    if (typeof value !== "object" || value === null) return false;
    const { timeZone, dates, except } = value as {
      readonly timeZone?: unknown;
      readonly dates?: unknown;
      readonly except?: unknown;
    };
    return (
      (timeZone !== undefined && !isZone(timeZone)) ||
      [dates, except].some((given) => Array.isArray(given) && !given.every(areDates))
    );
  });
};

const isZone = (zone: unknown): boolean => {
  try {
    new Intl.DateTimeFormat("en", { timeZone: String(zone) });
    return true;
  } catch {
    return false;
  }
};

/** False for text in the form of dates that do not exist, or that are not one after the other. */
const areDates = (given: unknown): boolean => {
  const days = String(given).split("/");
  if (!days.every((day) => /^\d{4}-\d\d-\d\d$/.test(day))) return true;
  const exist = days.every(
    (day) => new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true,
  );
  return exist && days.join() === days.toSorted().join();
};

/**
 * True for a manifest with a text in a language that no condition can read, or with names that such
 * a text uses.
 */
const hasLanguage = (manifest: unknown): boolean =>
  everyValue(manifest).some(
    (value) =>
      typeof value === "object" &&
      value !== null &&
      ["expression", "input", "dimensions"].some((name) => name in value),
  );

const scheduled = (entry: object): object =>
  document({ schedule: [{ name: "office", timeZone: "Europe/Berlin", minReplicas: 3, ...entry }] });

const [, , , , watermark = {}] = COMPLETE as readonly { readonly spec?: object }[];
const ITEMS_ABOVE = 51;
const MEMBERS_ABOVE = 101;
const CHARACTERS_ABOVE = 513;
const QUANTITY_ABOVE = 65;
const NEVER = (): boolean => false;
const labels = Object.fromEntries(
  Array.from({ length: MEMBERS_ABOVE }, (_, at) => [`a${at}`, "b"]),
);
const values = Array.from({ length: ITEMS_ABOVE }, (_, at) => `v${at}`);
const selected = (selector: object): object =>
  document(metric({ external: { metric: "lag", selector } }));

export const DIFFERENCES: readonly Difference[] = [
  {
    row: "A fraction without quotes",
    refusedBy: "server",
    examples: [document(metric({ target: 0.5 }))],
    covers: NEVER,
  },
  {
    row: "A null inside a list",
    refusedBy: "server",
    examples: [selected({ matchExpressions: [{ key: "a", operator: "In", values: [null] }] })],
    covers: hasNullItem,
  },
  {
    row: "With `rules: watermark`, a / or % in the kind or name of the target",
    refusedBy: "server",
    examples: [
      { ...watermark, spec: { ...watermark.spec, scaleTargetRef: { kind: "a/b", name: "web" } } },
    ],
    covers: withSlash,
  },
  {
    row: "More than 50 items in a list, or 100 members of a map",
    refusedBy: "server",
    examples: [
      selected({ matchExpressions: [{ key: "a", operator: "In", values }] }),
      selected({ matchLabels: labels }),
    ],
    covers: NEVER,
  },
  {
    row: "A text of more than 512 characters, or a quantity of more than 64",
    refusedBy: "server",
    examples: [
      document({ owner: "a".repeat(CHARACTERS_ABOVE) }),
      document(metric({ target: `${"0".repeat(QUANTITY_ABOVE)}1` })),
    ],
    covers: NEVER,
  },
  {
    row: "`metadata.generateName` without a name",
    refusedBy: "apply",
    examples: [{ ...document(), metadata: { generateName: "web-" } }],
    covers: NEVER,
  },
  {
    row: "In `schedule`, a zone that the zone data of this runtime does not have, a date that does not exist, or dates that end before they begin",
    refusedBy: "apply",
    examples: [
      scheduled({ timeZone: "Europe/Berln" }),
      scheduled({ dates: ["2030-02-30"] }),
      scheduled({ except: ["2030-02-03/2030-02-01"] }),
    ],
    covers: hasNoSuchTime,
  },
  {
    row: "A formula or an expression of CloudWatch that cannot be read or names no metric, an input that no formula names, or dimensions that CloudWatch does not take",
    refusedBy: "apply",
    examples: [
      document({ metrics: [{ formula: { expression: "2 *" }, target: 1 }] }),
      document({ metrics: [{ formula: { expression: "2 * queue" }, target: 1 }] }),
      document({ metrics: [METRIC, { external: { metric: "users" }, input: true }] }),
      document({
        metrics: [{ cloudwatch: { source: "aws", expression: "errors / requests" }, target: 1 }],
      }),
      document({
        metrics: [
          {
            cloudwatch: { source: "aws", namespace: "A", metric: "b", dimensions: { ":c": "d" } },
            target: 1,
          },
        ],
      }),
    ],
    covers: hasLanguage,
  },
  {
    row: "An unknown field inside `status`",
    refusedBy: "server",
    examples: [{ ...document(), status: { unknown: 1 } }],
    covers: NEVER,
  },
];

/** The first cells of the table of the page, and the side that refuses. */
export const ROWS: readonly (readonly [row: string, apply: string, server: string])[] = (() => {
  const page = readFileSync(new URL("../../docs/specs-in-cluster.md", import.meta.url), "utf8");
  const table = page.slice(page.indexOf("| in the manifest |")).split("\n\n")[0] ?? "";
  return table
    .trimEnd()
    .split("\n")
    .slice(2)
    .map((line) => {
      const [row = "", apply = "", server = ""] = line.replace(/^\| | \|$/g, "").split(" | ");
      return [row, apply, server] as const;
    });
})();
