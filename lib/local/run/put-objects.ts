import { createHash } from "node:crypto";
import { admitOrThrow } from "../../manifest/admit.ts";
import { readManifests } from "../../manifest/documents.ts";
import type { Validation } from "../../manifest/validation.ts";
import { isObject } from "../../model/is-object.ts";
import { kindsReadFrom } from "../../model/origin.ts";
import type { ClusterRecord } from "../../model/records.ts";
import { SPEC_KINDS, type SpecKind } from "../../model/spec-kinds.ts";
import type { ServiceContext } from "../../service/context.ts";
import { openService } from "../../service/open.ts";
import type { Applied } from "../../service/views/autoscaler-view.ts";
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

/** Applies every document of the files to a cluster. All are checked before any is stored. */
export const applyFiles = (
  context: ServiceContext,
  cluster: string,
  files: readonly ManifestFile[],
  validation: Validation,
): Promise<readonly Applied[]> => openService(context).apply(files, { cluster, dryRun: false, validation });

/**
 * Applies the first manifests of a new folder, one document after the other, with uids that follow from the seed: ids of scale events contain the uid, and the same run must
 * give the same events. Every later autoscaler gets a new random uid.
 */
export const applyFirst = async (
  context: ServiceContext,
  cluster: string,
  files: readonly ManifestFile[],
  { seed, validation }: { readonly seed: number; readonly validation: Validation },
): Promise<readonly Applied[]> => {
  const applied: Applied[] = [];
  for (const { file, text } of files) {
    for (const manifest of readManifests(text, file, { repeatedKeys: "keep" })) {
      const { namespace, name } = admitOrThrow(manifest).metadata;
      const service = openService({ ...context, newUid: () => seededUid(`${seed}/${cluster}/${namespace}/${name}`) });
      applied.push(
        ...(await service.apply([{ file: manifest.where, text: JSON.stringify(manifest.document) }], { cluster, dryRun: false, validation })),
      );
    }
  }
  return applied;
};

/** A UUID of version 8 (RFC 9562 5.8: contents of one's own) made of a text. */
const seededUid = (text: string): string => {
  const hex = createHash("sha256").update(text).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};
