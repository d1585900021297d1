import type { Observed } from "../../cluster/cluster-client.ts";
import type { AutoscalerUid, Namespace } from "../../model/ids.ts";
import type { ClusterRecord } from "../../model/records.ts";
import type { KnownRival, KnownRivals, Rival, RivalLook } from "../../model/observation.ts";
import type { Loaded } from "./load.ts";
import { type LoadedPage, pageOfUid } from "./load-pages.ts";
import type { ReadySpec } from "./load-specs.ts";
import type { StoredWindows } from "../../model/scale-records.ts";

/** The other controllers of a workload, by this sync and by what earlier syncs have stored. */
export interface Beside {
  readonly rivals: readonly Rival[];
  /** True where an earlier sync has seen one. */
  readonly seenBefore: boolean;
  /** Why there may be others. */
  readonly unknown?: string;
  /** What the looks have shown so far, this one included. */
  readonly known?: KnownRivals;
}

type Refused = Extract<RivalLook, { readonly outcome: "refused" }>;

/**
 * Judges the looks of a sync by the looks of earlier syncs. A 403 or 404 means "there is none" only where this connection was never answered there: API servers that restart, and edits of RBAC, answer so too. A
 * controller that was seen counts until its LIST is answered without it.
 */
export const besideOf = (loaded: Loaded): ((autoscaler: ReadySpec, observed: Observed) => Beside) => {
  const answered = answeredKinds(loaded);
  let inNamespaces: ReadonlyMap<Namespace, ReadonlySet<string>> | undefined;
  const wasAnswered = ({ kind, everywhere, lost }: Refused, namespace: Namespace): boolean => {
    if (lost || everywhere || !answered.has(kind)) return lost || answered.has(kind);
    inNamespaces ??= kindsByNamespace(loaded);
    return inNamespaces.get(namespace)?.has(kind) === true;
  };
  return ({ record: { uid, namespace } }, { rivals, rivalsUnknown, looks = NO_LOOKS }) => {
    const before = knownOf(loaded, uid);
    // On doubt, hold: a right that was there and is lost hides what may be there.
    const lost = looks.find((look) => look.outcome === "refused" && wasAnswered(look, namespace));
    const unknown = rivalsUnknown ?? (lost?.outcome === "refused" ? lostRight(lost) : undefined);
    const known = knownAfter(before, looks, connectionOf(loaded.cluster));
    return { ...sightOf(before, looks, rivals), ...(unknown !== undefined && { unknown }), ...(known && { known }) };
  };
};

const NOTHING_SEEN = { rivals: [], seenBefore: false } as const;

/** The controllers that this sync has found, and the controllers of earlier syncs that are still there. Beside almost every workload nothing was ever seen. */
const sightOf = (before: KnownRivals | undefined, looks: readonly RivalLook[], rivals: readonly Rival[]): Pick<Beside, "rivals" | "seenBefore"> => {
  const seenBefore = before?.looks.some((seen) => seen[1].length > 0) === true;
  if (!seenBefore) return rivals.length === 0 ? NOTHING_SEEN : { rivals, seenBefore };
  const still = stillThere(before, looks, rivals);
  return { rivals: still.length === 0 ? rivals : [...rivals, ...still], seenBefore };
};

const NO_LOOKS: readonly RivalLook[] = [];

/** Kinds whose LIST was answered over this connection, for any autoscaler of the partition. */
export const answeredKinds = (loaded: Loaded): ReadonlySet<string> => {
  const connection = connectionOf(loaded.cluster);
  return new Set(loaded.pages.flatMap((page) => [...answeredIn(page, connection)]));
};

/** A page that did not change is the same object in each sync of a warm environment. */
const answeredOfPages = new WeakMap<LoadedPage, { readonly connection: number; readonly kinds: ReadonlySet<string> }>();

const answeredIn = (page: LoadedPage, connection: number): ReadonlySet<string> => {
  if (page.kind === "unreadable") return NO_KINDS;
  const known = answeredOfPages.get(page);
  if (known?.connection === connection) return known.kinds;
  const kinds = new Set<string>();
  for (const { rivals } of page.entries.values()) if (rivals?.connection === connection) for (const [kind] of rivals.looks) kinds.add(kind);
  answeredOfPages.set(page, { connection, kinds });
  return kinds;
};

const NO_KINDS: ReadonlySet<string> = new Set();

const connectionOf = ({ connectionVersion = 0 }: Pick<ClusterRecord, "connectionVersion">): number => connectionVersion;

const knownOf = (loaded: Loaded, uid: AutoscalerUid): KnownRivals | undefined => {
  const page = pageOfUid(loaded, uid);
  const entry: StoredWindows | undefined = page?.kind === "read" ? page.entries.get(uid) : undefined;
  return entry?.rivals?.connection === connectionOf(loaded.cluster) ? withoutKinds(entry.rivals, loaded.cluster.specsFromCluster) : undefined;
};

/** Objects of a kind that is read from the cluster are its autoscalers. They are other controllers no more, and nothing looks for them again. What was seen of the other kinds goes on. */
const withoutKinds = (known: KnownRivals, own: readonly string[] = []): KnownRivals => {
  if (own.length === 0) return known;
  const looks = known.looks.filter(([kind]) => !own.includes(kind));
  return looks.length === known.looks.length ? known : { ...known, looks };
};

const kindsByNamespace = (loaded: Loaded): ReadonlyMap<Namespace, ReadonlySet<string>> => {
  const kinds = new Map<Namespace, Set<string>>();
  for (const spec of loaded.specs.all) {
    if (spec.kind !== "ready") continue;
    const { namespace, uid } = spec.record;
    const inside = kinds.get(namespace) ?? new Set();
    for (const [kind] of knownOf(loaded, uid)?.looks ?? []) inside.add(kind);
    kinds.set(namespace, inside);
  }
  return kinds;
};

const lostRight = ({ kind, message }: Refused): string =>
  `no ${kind} can be looked for any more: ${message}; see tidemark cluster check, or state the connection again if none is to be looked for (tidemark cluster add --replace)`;

/** The controllers of earlier syncs that no answer of this sync is about. */
const stillThere = (before: KnownRivals, looks: readonly RivalLook[], found: readonly Rival[]): readonly Rival[] => {
  const unanswered = before.looks.filter(([kind]) => !looks.some((look) => look.outcome === "answered" && look.kind === kind));
  const seen = unanswered.flatMap(([, rivals]) => rivals);
  return seen.filter(({ kind, name }, at) => ![...found, ...seen.slice(0, at)].some((other) => other.kind === kind && other.name === name));
};

/** Controllers of one kind that are kept for a workload. One is enough to hold; the others are named for people. */
const KEPT_MAX = 10;

const knownAfter = (before: KnownRivals | undefined, looks: readonly RivalLook[], connection: number): KnownRivals | undefined => {
  // Most LISTs are not repeated in each sync.
  if (!looks.some(isAnswered)) return before;
  const answered = looks.filter((look) => look.outcome === "answered").map(({ kind, rivals }) => ({ kind, rivals: rivals.slice(0, KEPT_MAX) }));
  if (answered.every(({ kind, rivals }) => isKnown(before, kind, rivals))) return before;
  const shown = answered.map(({ kind: of, rivals }): KnownRivals["looks"][number] => [
    of,
    rivals.map(({ kind, name, uid }) => ({ kind, name, ...(uid !== undefined && { uid }) })),
  ]);
  return { connection, looks: [...new Map([...(before?.looks ?? []), ...shown])] };
};

const isAnswered = ({ outcome }: RivalLook): boolean => outcome === "answered";

/** True in almost every sync, so that nothing is made anew. */
const isKnown = (before: KnownRivals | undefined, of: string, rivals: readonly Rival[]): boolean => {
  const known = before?.looks.find(([kind]) => kind === of)?.[1];
  const isSame = ({ kind, name, uid }: KnownRival, other: Rival | undefined): boolean =>
    kind === other?.kind && name === other.name && uid === other.uid;
  return known?.length === rivals.length && known.every((one, at) => isSame(one, rivals[at]));
};
