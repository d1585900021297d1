import { SPEC_KINDS, type SpecKind, type SpecKindName } from "../../../lib/rules/model/spec.ts";
import { during } from "../during.ts";

/** An object that holds the spec of an autoscaler, as an API server keeps it. */
export interface ClusterObject {
  readonly of: SpecKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: number;
  /** As JSON text, in the order in which the client of clusters puts it together. */
  readonly manifest: string;
  readonly status?: Readonly<Record<string, unknown>>;
  /** Another controller that wrote its status. */
  readonly statusBy?: { readonly manager: string; readonly atMs: number };
}

/** Names one object. */
export interface ObjectRef {
  readonly kind: SpecKindName;
  readonly namespace: string;
  readonly name: string;
}

type Objects = ReadonlyMap<string, ClusterObject>;

/** The objects of one API server, with everything that it ever had: an answer may be an old one. */
export interface ObjectStore {
  /** Makes the object of a manifest, or edits it. */
  readonly apply: (manifest: object) => void;
  readonly remove: (ref: ObjectRef) => void;
  /** The status is written, by Tidemark or by another controller. */
  readonly touch: (ref: ObjectRef, by: Pick<ClusterObject, "status" | "statusBy">) => void;
  readonly get: (ref: ObjectRef) => ClusterObject | undefined;
  /** One version of one object, also of one that is gone. */
  readonly version: (uid: string, resourceVersion: string) => ClusterObject | undefined;
  /** What a LIST of that instant has. */
  readonly at: (ms: number) => readonly ClusterObject[];
  /** Everything that LISTs between two instants may have. */
  readonly between: (fromMs: number, toMs: number) => readonly (readonly ClusterObject[])[];
}

interface Manifest {
  readonly kind: SpecKindName;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: object;
  };
  readonly spec: object;
}

const keyOf = ({ kind, namespace, name }: ObjectRef): string => `${kind}/${namespace}/${name}`;

const refOf = ({ kind, metadata: { namespace, name } }: Manifest): ObjectRef => ({
  kind,
  namespace,
  name,
});

export const kindOf = (kind: SpecKindName): SpecKind => {
  const found = SPEC_KINDS.find((one) => one.kind === kind);
  if (!found) throw new RangeError(`no cluster has objects of the kind "${kind}"`);
  return found;
};

const textOf = (of: SpecKind, { metadata: { name, namespace, labels }, spec }: Manifest): string =>
  JSON.stringify({
    apiVersion: of.apiVersion,
    kind: of.kind,
    metadata: { name, namespace, ...(labels && { labels }) },
    spec,
  });

/** Uids never come again, also not at another API server. Labels are no part of the generation. */
export const newObjectStore = (site: string, nowMs: () => number): ObjectStore => {
  const states: { readonly atMs: number; readonly objects: Objects }[] = [
    { atMs: Number.NEGATIVE_INFINITY, objects: new Map() },
  ];
  const all = new Map<string, ClusterObject>();
  let [made, versions] = [0, 0];
  const present = (): Objects => states.at(-1)?.objects ?? new Map();
  const put = (key: string, object: ClusterObject | undefined): void => {
    const objects = new Map(present());
    if (object) {
      objects.set(key, object);
      all.set(`${object.uid} ${object.resourceVersion}`, object);
    } else objects.delete(key);
    states.push({ atMs: nowMs(), objects });
  };
  return {
    apply: (given) => {
      const manifest = given as Manifest;
      const ref = refOf(manifest);
      const of = kindOf(ref.kind);
      const before = present().get(keyOf(ref));
      const text = textOf(of, manifest);
      if (before?.manifest === text) return;
      const isSpec =
        before &&
        JSON.stringify((JSON.parse(before.manifest) as Manifest).spec) !==
          JSON.stringify(manifest.spec);
      const { namespace, name } = ref;
      put(keyOf(ref), {
        of,
        namespace,
        name,
        uid: before?.uid ?? `${site}-${of.plural}-${name}-${++made}`,
        generation: before ? before.generation + (isSpec ? 1 : 0) : 1,
        resourceVersion: ++versions,
        manifest: text,
        ...(before?.status && { status: before.status }),
        ...(before?.statusBy && { statusBy: before.statusBy }),
      });
    },
    remove: (ref) => {
      if (present().has(keyOf(ref))) put(keyOf(ref), undefined);
    },
    touch: (ref, by) => {
      const before = present().get(keyOf(ref));
      if (before) put(keyOf(ref), { ...before, ...by, resourceVersion: ++versions });
    },
    get: (ref) => present().get(keyOf(ref)),
    version: (uid, resourceVersion) => all.get(`${uid} ${resourceVersion}`),
    between: (fromMs, toMs) =>
      during(states, fromMs, toMs).map(({ objects }) => [...objects.values()]),
    at: (ms) => [...(states.findLast(({ atMs }) => atMs <= ms)?.objects.values() ?? [])],
  };
};
