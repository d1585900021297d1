import * as z from "zod";
import { newBudget } from "../../../rules/manifest/budget.ts";
import { type ManifestDocument, readManifests } from "../../../rules/manifest/documents.ts";
import { type KindCount, placeOfField } from "../../../rules/manifest/errors.ts";
import { isMetricSource, type OtherKinds } from "../../../rules/manifest/other-kinds.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { isObject } from "../../../rules/model/json.ts";
import type { NewSource } from "../requests.ts";
import type { ManifestSource } from "../service.ts";
import { sourceFaults } from "./source-faults.ts";
import { withDefaults } from "./sources.ts";
import { sourceFields } from "../../../stack/store/records/metric-sources.ts";
import type { SourceView } from "../../views/source.ts";

/** A metric source of a file: the fields of `source put` as a document. */
const document = z.strictObject({
  apiVersion: z.literal("tidemark.dev/v1"),
  kind: z.literal("MetricSource"),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.never("a source belongs to the fleet, and to no namespace").optional(),
  }),
  spec: z.strictObject({
    ...sourceFields,
    timeoutSeconds: z.number().exactOptional(),
    maxMetrics: z.number().exactOptional(),
    maxDollars: z.number().exactOptional(),
    private: z.boolean().exactOptional(),
  }),
});

/** The sources of files, and whether anything else is in them. */
export interface SourceDocuments {
  readonly sources: readonly NewSource[];
  readonly others: boolean;
}

/**
 * Reads the documents `kind: MetricSource` of files, in order. Throws `manifest.invalid` with a
 * line for every fault, before anything is stored.
 */
export const sourcesIn = (files: readonly ManifestSource[]): SourceDocuments => {
  if (!files.some(({ text }) => text.includes("MetricSource")))
    return { sources: [], others: true };
  const budget = newBudget();
  const others = notSources();
  const read = files.flatMap(({ file, text }) =>
    readManifests(text, file, { budget, otherKinds: others }).map(readSource),
  );
  const faults = [
    ...read.flatMap((each) => ("faults" in each ? each.faults : [])),
    ...twins(read.flatMap((each) => ("source" in each ? each.source.name : []))),
  ];
  if (faults.length > 0)
    throw new TidemarkError("manifest.invalid", faults.join("\n"), { lines: faults });
  return {
    sources: read.flatMap((each) => ("source" in each ? each.source : [])),
    others: others.total() > 0,
  };
};

/** Passes over everything that is no source: `apply` reads it on its own. */
const notSources = (): OtherKinds => {
  let total = 0;
  return {
    total: () => total,
    counts: () => [],
    passOver: (raw) => {
      const isOther = !(isObject(raw) && isMetricSource(raw));
      total += isOther ? 1 : 0;
      return isOther;
    },
  };
};

const readSource = (
  written: ManifestDocument,
): { readonly source: NewSource } | { readonly faults: readonly string[] } => {
  const parsed = document.safeParse(written.document);
  const faultOf = (field: string, message: string): string =>
    `Cannot accept ${placeOfField(written, field)}: ${field}: ${message}`;
  if (!parsed.success)
    return {
      faults: parsed.error.issues.map(({ path, message }) => faultOf(path.join("."), message)),
    };
  const { metadata, spec } = parsed.data;
  const source: NewSource = { name: metadata.name, ...spec };
  // What depends on where the sources are asked is checked where they are stored.
  const faults = sourceFaults(source.name, withDefaults(source), { ownAddresses: true });
  return faults.length === 0
    ? { source }
    : {
        faults: faults.map(
          (fault) => `Cannot accept "${written.where}": source "${source.name}": ${fault}`,
        ),
      };
};

const twins = (names: readonly string[]): readonly string[] =>
  [...new Set(names.filter((name, at) => names.indexOf(name) !== at))].map(
    (name) => `Cannot accept source "${name}": it is in the files twice; keep one`,
  );

/** What `apply` passed over, without the sources, which were registered before. */
export const withoutSources = (counts: readonly KindCount[]): readonly KindCount[] =>
  counts.filter(({ kind }) => kind !== "MetricSource");

/** A source as a document that `apply` takes, with its defaults. */
export const documentOf = ({ name, ...source }: NewSource | SourceView): object => {
  const {
    updatedAt: _at,
    updatedBy: _by,
    ...spec
  } = { updatedAt: "", updatedBy: "", ...withDefaults({ name, ...source }) };
  return { apiVersion: "tidemark.dev/v1", kind: "MetricSource", metadata: { name }, spec };
};
