import { readManifests } from "../../manifest/documents.ts";
import { isObject } from "../../model/is-object.ts";
import { kindsReadFrom } from "../../model/origin.ts";
import type { ClusterRecord } from "../../model/records.ts";
import { SPEC_KINDS, type SpecKind } from "../../model/spec-kinds.ts";
import type { ManifestFile } from "./manifest-files.ts";

/** Puts an object into the simulated cluster, as `kubectl apply` would. */
export type PutObject = (of: SpecKind, document: unknown) => void;

/**
 * Puts the manifests of the kinds that this cluster's autoscalers are read from into the cluster, and gives back the others, which are stored in the table. On a real cluster nothing is put:
 * `apply` then refuses these kinds and says where to edit them.
 */
export const putObjects = (cluster: ClusterRecord, files: readonly ManifestFile[], put: PutObject | undefined): readonly ManifestFile[] => {
  const kinds = kindsReadFrom(cluster);
  if (kinds.length === 0 || !put) return files;
  const others: ManifestFile[] = [];
  for (const { file, text } of files) {
    for (const { document, where } of readManifests(text, file)) {
      const of = kindOf(document);
      if (of && kinds.includes(of)) put(of, document);
      else others.push({ file: where, text: JSON.stringify(document) });
    }
  }
  return others;
};

const kindOf = (document: unknown): SpecKind | undefined =>
  SPEC_KINDS.find(({ kind, apiVersion }) => isObject(document) && document["kind"] === kind && document["apiVersion"] === apiVersion);
