import * as z from "zod";
import { placeOfField } from "../../../rules/manifest/errors.ts";
import {
  type FleetDocument,
  type FleetDocuments,
  fleetDocuments,
  type FleetReading,
} from "../fleet-documents.ts";
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

/** The sources of files. Throws `manifest.invalid` with a line for every fault. */
export const sourcesIn = (files: readonly ManifestSource[]): FleetDocuments<NewSource> =>
  fleetDocuments("MetricSource", files, readSource);

const readSource = (written: FleetDocument): FleetReading<NewSource> => {
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
    ? { value: source }
    : {
        faults: faults.map(
          (fault) => `Cannot accept "${written.where}": source "${source.name}": ${fault}`,
        ),
      };
};

/** A source as a document that `apply` takes, with its defaults. */
export const documentOf = ({ name, ...source }: NewSource | SourceView): object => {
  const {
    updatedAt: _at,
    updatedBy: _by,
    ...spec
  } = { updatedAt: "", updatedBy: "", ...withDefaults({ name, ...source }) };
  return { apiVersion: "tidemark.dev/v1", kind: "MetricSource", metadata: { name }, spec };
};
