import { admitOrThrow } from "../../manifest/admit.ts";
import { readManifests } from "../../manifest/documents.ts";
import { newOtherKinds } from "../../manifest/other-kinds.ts";
import type { Validation } from "../../model/validation.ts";
import { isObject } from "../../model/is-object.ts";
import { kindsReadFrom } from "../../model/origin.ts";
import type { ClusterRecord } from "../../model/records.ts";
import { SPEC_KINDS, type SpecKind } from "../../model/spec-kinds.ts";
import type { ServiceContext } from "../../service/context.ts";
import { openService } from "../../service/open.ts";
import type { Applied } from "../../views/autoscaler.ts";
import { seededUid } from "./made-fleet.ts";
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
    for (const { document, where } of readManifests(text, file, { otherKinds: newOtherKinds() })) {
      const of = kindOf(document);
      if (of && kinds.includes(of)) put(of, document);
      else others.push({ file: where, text: JSON.stringify(document) });
    }
  }
  return others;
};

const kindOf = (document: unknown): SpecKind | undefined =>
  SPEC_KINDS.find(({ kind, apiVersion }) => isObject(document) && document["kind"] === kind && document["apiVersion"] === apiVersion);

/** Applies every document of the files to a cluster, each file as one step. All documents of a file are checked before one is stored. */
export const applyFiles = async (
  context: ServiceContext,
  cluster: string,
  files: readonly ManifestFile[],
  validation: Validation,
): Promise<readonly Applied[]> => {
  const applied: Applied[] = [];
  for (const file of files) applied.push(...(await openService(context).apply([file], { cluster, dryRun: false, validation })));
  return applied;
};

/**
 * Applies the first manifests of a new folder, each file as one step, with uids that follow from the seed: ids of scale events contain the uid, and the same run must
 * give the same events. The documents of a step get their uids in their order. Every later autoscaler gets a new random uid.
 */
export const applyFirst = async (
  context: ServiceContext,
  cluster: string,
  files: readonly ManifestFile[],
  { seed, validation }: { readonly seed: number; readonly validation: Validation },
): Promise<readonly Applied[]> => {
  const applied: Applied[] = [];
  for (const file of files) {
    const names = readManifests(file.text, file.file, { otherKinds: newOtherKinds(), repeatedKeys: "keep" }).map(
      (manifest) => admitOrThrow(manifest, { validation }).metadata,
    );
    let next = 0;
    const newUid = (): string => {
      const { namespace, name } = names[next++] ?? { namespace: "", name: String(next) };
      return seededUid(`${seed}/${cluster}/${namespace}/${name}`);
    };
    applied.push(...(await openService({ ...context, newUid }).apply([file], { cluster, dryRun: false, validation })));
  }
  return applied;
};
