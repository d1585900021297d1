import { admitOrThrow } from "../../rules/manifest/admit.ts";
import { readManifests } from "../../rules/manifest/documents.ts";
import { newOtherKinds } from "../../rules/manifest/other-kinds.ts";
import type { Validation } from "../../rules/model/spec.ts";
import { isObject } from "../../rules/model/json.ts";
import { kindsReadFrom, type ClusterRecord } from "../../rules/model/records.ts";
import type { ServiceContext } from "../../answers/service/context.ts";
import { openService } from "../../answers/service/open.ts";
import type { Applied } from "../../answers/views/autoscaler.ts";
import { seededUid } from "./made-fleet.ts";
import { KEPT_KINDS, type KeptKind } from "../cluster/objects/custom-objects.ts";
import { type ManifestFile, otherKindsBeside } from "./manifest-files.ts";
import type { BesideWhat } from "./options.ts";

/** Puts an object into the simulated cluster, as `kubectl apply` would. */
export type PutObject = (of: KeptKind, document: unknown) => void;

/** The kind whose objects a stand-in follows. */
const FOLLOWED: Readonly<Record<BesideWhat, string>> = {
  hpa: "HorizontalPodAutoscaler",
  wpa: "WatermarkPodAutoscaler",
  keda: "ScaledObject",
};

export interface Putting {
  /**
   * Absent on a real cluster, where nothing is put: `apply` then refuses the kinds that are read
   * from it and says where to edit them.
   */
  readonly put: PutObject | undefined;
  readonly beside?: BesideWhat | undefined;
  /**
   * The objects of another controller are put once. Later they are what people and takeovers have
   * made of them.
   */
  readonly resumed: boolean;
}

/**
 * Puts the manifests of the kinds that this cluster's autoscalers are read from, and the objects of
 * another controller, into the cluster, and gives back the others, which are stored in the table.
 */
export const putObjects = (
  cluster: ClusterRecord,
  files: readonly ManifestFile[],
  { put, beside, resumed }: Putting,
): readonly ManifestFile[] => {
  const followed = beside === undefined ? [] : [FOLLOWED[beside]];
  const kinds: readonly string[] = [...kindsReadFrom(cluster).map(({ kind }) => kind), ...followed];
  if (!put || kinds.length === 0) return files;
  const manifests = files.flatMap(({ file, text }) => [
    ...readManifests(text, file, { otherKinds: otherKindsBeside(beside) }),
  ]);
  const [own = [], others = []] = partition(manifests, ({ document }) =>
    kinds.includes(kindOf(document)?.kind ?? ""),
  );
  for (const { document } of own) {
    const of = kindOf(document);
    if (of && !(resumed && followed.includes(of.kind))) put(of, document);
  }
  return others.map(({ document, where }) => ({ file: where, text: JSON.stringify(document) }));
};

const partition = <Item>(
  items: readonly Item[],
  isFirst: (item: Item) => boolean,
): readonly (readonly Item[])[] => [items.filter(isFirst), items.filter((item) => !isFirst(item))];

const kindOf = (document: unknown): KeptKind | undefined =>
  KEPT_KINDS.find(
    ({ kind, apiVersion }) =>
      isObject(document) && document["kind"] === kind && document["apiVersion"] === apiVersion,
  );

/**
 * Applies every document of the files to a cluster, each file as one step. All documents of a file
 * are checked before one is stored.
 */
export const applyFiles = async (
  context: ServiceContext,
  cluster: string,
  files: readonly ManifestFile[],
  validation: Validation,
): Promise<readonly Applied[]> => {
  const applied: Applied[] = [];
  for (const file of files)
    applied.push(
      ...(await openService(context).apply([file], { cluster, dryRun: false, validation })),
    );
  return applied;
};

/**
 * Applies the first manifests of a new folder, each file as one step, with uids that follow from
 * the seed: ids of scale events contain the uid, and the same run must give the same events. The
 * documents of a step get their uids in their order. Every later autoscaler gets a new random uid.
 */
export const applyFirst = async (
  context: ServiceContext,
  cluster: string,
  files: readonly ManifestFile[],
  { seed, validation }: { readonly seed: number; readonly validation: Validation },
): Promise<readonly Applied[]> => {
  const applied: Applied[] = [];
  for (const file of files) {
    const names = readManifests(file.text, file.file, {
      otherKinds: newOtherKinds(),
      repeatedKeys: "keep",
    }).map((manifest) => admitOrThrow(manifest, { validation }).metadata);
    let next = 0;
    const newUid = (): string => {
      const { namespace, name } = names[next++] ?? { namespace: "", name: String(next) };
      return seededUid(`${seed}/${cluster}/${namespace}/${name}`);
    };
    applied.push(
      ...(await openService({ ...context, newUid }).apply([file], {
        cluster,
        dryRun: false,
        validation,
      })),
    );
  }
  return applied;
};
