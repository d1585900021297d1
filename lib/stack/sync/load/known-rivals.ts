import type { Observed } from "../../cluster/cluster-client.ts";
import type { AutoscalerUid, Namespace } from "../../../rules/model/ids.ts";
import type { ClusterRecord } from "../../../rules/model/records.ts";
import type {
  KnownRival,
  KnownRivals,
  Rival,
  RivalLook,
} from "../../../rules/model/observation.ts";
import { entryOf } from "./load-pages.ts";
import type { Loaded, LoadedPage, ReadySpec } from "../hand-over.ts";

/**
 * The other controllers of a workload, by this sync and by what earlier syncs have stored. One of
 * each autoscaler is made in every sync, so that each has every member.
 */
export interface Beside {
  readonly rivals: readonly Rival[];
  /** True where an earlier sync has seen one. */
  readonly seenBefore: boolean;
  /** Why there may be others. */
  readonly unknown: string | undefined;
  /** What the looks have shown so far, this one included. */
  readonly known: KnownRivals | undefined;
}

type Refused = Extract<RivalLook, { readonly outcome: "refused" }>;

/**
 * Judges the looks of a sync by the looks of earlier syncs. A 403 or 404 means "there is none" only
 * where this connection was never answered there: API servers that restart, and edits of RBAC,
 * answer so too. A controller that was seen counts until its LIST is answered without it.
 */
export const besideOf = (
  loaded: Loaded,
): ((autoscaler: ReadySpec, observed: Observed) => Beside) => {
  const answered = answeredKinds(loaded);
  const connection = connectionOf(loaded.cluster);
  const knownOf = knownOfPages(loaded, connection);
  let inNamespaces: ReadonlyMap<Namespace, ReadonlySet<string>> | undefined;
  const wasAnswered = ({ kind, everywhere, lost }: Refused, namespace: Namespace): boolean => {
    if (lost || everywhere || !answered.has(kind)) return lost || answered.has(kind);
    inNamespaces ??= kindsByNamespace(loaded, knownOf);
    return inNamespaces.get(namespace)?.has(kind) === true;
  };
  const shownBy = (looks: readonly RivalLook[], namespace: Namespace): Shown => ({
    looks,
    namespace,
    answers: looks
      .filter((look) => look.outcome === "answered")
      .map(({ kind, rivals }) => ({ kind, rivals: rivals.slice(0, KEPT_MAX) })),
    // On doubt, hold: a right that was there and is lost hides what may be there.
    lost: looks.find(
      (look): look is Refused => look.outcome === "refused" && wasAnswered(look, namespace),
    ),
  });
  let shown: Shown | undefined;
  return ({ record: { uid, namespace } }, { rivals, rivalsUnknown, looks = NO_LOOKS }) => {
    // Beside most autoscalers of a namespace the same looks show nothing, and are one value.
    if (shown?.looks !== looks || shown.namespace !== namespace) shown = shownBy(looks, namespace);
    const before = knownOf(uid);
    const seenBefore = before?.looks.some(hasSeen) === true;
    return {
      rivals: before && seenBefore ? withStillThere(before, looks, rivals) : rivals,
      seenBefore,
      unknown: rivalsUnknown ?? (shown.lost && lostRight(shown.lost)),
      known: knownAfter(before, shown.answers, connection),
    };
  };
};

/** What the looks of one namespace say, whatever was known before. */
interface Shown {
  readonly looks: readonly RivalLook[];
  readonly namespace: Namespace;
  /** The LISTs that were answered in this sync. */
  readonly answers: readonly { readonly kind: string; readonly rivals: readonly Rival[] }[];
  /** A LIST that was answered once, and is refused now. */
  readonly lost: Refused | undefined;
}

/** Beside almost every workload nothing was ever seen. */
const hasSeen = ([, rivals]: KnownRivals["looks"][number]): boolean => rivals.length > 0;

const NO_LOOKS: readonly RivalLook[] = [];

/** Kinds whose LIST was answered over this connection, for any autoscaler of the partition. */
export const answeredKinds = (loaded: Loaded): ReadonlySet<string> => {
  const connection = connectionOf(loaded.cluster);
  return new Set(loaded.pages.flatMap((page) => [...answeredIn(page, connection)]));
};

/** A page that did not change is the same object in each sync of a warm environment. */
const answeredOfPages = new WeakMap<
  LoadedPage,
  { readonly connection: number; readonly kinds: ReadonlySet<string> }
>();

const answeredIn = (page: LoadedPage, connection: number): ReadonlySet<string> => {
  if (page.kind === "unreadable") return NO_KINDS;
  const known = answeredOfPages.get(page);
  if (known?.connection === connection) return known.kinds;
  const kinds = new Set<string>();
  for (const { rivals } of page.entries.values())
    if (rivals?.connection === connection) for (const [kind] of rivals.looks) kinds.add(kind);
  answeredOfPages.set(page, { connection, kinds });
  return kinds;
};

const NO_KINDS: ReadonlySet<string> = new Set();

const connectionOf = ({
  connectionVersion = 0,
}: Pick<ClusterRecord, "connectionVersion">): number => connectionVersion;

type KnownOf = (uid: AutoscalerUid) => KnownRivals | undefined;

const knownOfPages =
  (loaded: Loaded, connection: number): KnownOf =>
  (uid) => {
    const known = entryOf(loaded, uid)?.rivals;
    return known?.connection === connection
      ? withoutKinds(known, loaded.cluster.specsFromCluster)
      : undefined;
  };

/**
 * Objects of a kind that is read from the cluster are its autoscalers. They are other controllers
 * no more, and nothing looks for them again. What was seen of the other kinds goes on.
 */
const withoutKinds = (known: KnownRivals, own: readonly string[] = []): KnownRivals => {
  if (own.length === 0) return known;
  const looks = known.looks.filter(([kind]) => !own.includes(kind));
  return looks.length === known.looks.length ? known : { ...known, looks };
};

const kindsByNamespace = (
  loaded: Loaded,
  knownOf: KnownOf,
): ReadonlyMap<Namespace, ReadonlySet<string>> => {
  const kinds = new Map<Namespace, Set<string>>();
  for (const spec of loaded.specs.all) {
    if (spec.kind !== "ready") continue;
    const { namespace, uid } = spec.record;
    const inside = kinds.get(namespace) ?? new Set();
    for (const [kind] of knownOf(uid)?.looks ?? []) inside.add(kind);
    kinds.set(namespace, inside);
  }
  return kinds;
};

const lostRight = ({ kind, message }: Refused): string =>
  `no ${kind} can be looked for any more: ${message}; see tidemark cluster check, or state the connection again if none is to be looked for (tidemark cluster add --replace)`;

/**
 * The controllers that this sync has found, and the controllers of earlier syncs that no answer of
 * this sync is about.
 */
const withStillThere = (
  before: KnownRivals,
  looks: readonly RivalLook[],
  found: readonly Rival[],
): readonly Rival[] => {
  const unanswered = before.looks.filter(
    ([kind]) => !looks.some((look) => look.outcome === "answered" && look.kind === kind),
  );
  const seen = unanswered.flatMap(([, rivals]) => rivals);
  const still = seen.filter(
    ({ kind, name }, at) =>
      ![...found, ...seen.slice(0, at)].some((other) => other.kind === kind && other.name === name),
  );
  return still.length === 0 ? found : [...found, ...still];
};

/**
 * Controllers of one kind that are kept for a workload. One is enough to hold; the others are named
 * for people.
 */
const KEPT_MAX = 10;

/**
 * Most LISTs are not repeated in each sync, and most that are show what is known, so that nothing
 * is made anew.
 */
const knownAfter = (
  before: KnownRivals | undefined,
  answers: Shown["answers"],
  connection: number,
): KnownRivals | undefined => {
  if (answers.every(({ kind, rivals }) => isKnown(before, kind, rivals))) return before;
  const shown = answers.map(({ kind: of, rivals }): KnownRivals["looks"][number] => [
    of,
    rivals.map(({ kind, name, uid }) => ({ kind, name, ...(uid !== undefined && { uid }) })),
  ]);
  return { connection, looks: [...new Map([...(before?.looks ?? []), ...shown])] };
};

const isKnown = (
  before: KnownRivals | undefined,
  of: string,
  rivals: readonly Rival[],
): boolean => {
  const known = before?.looks.find(([kind]) => kind === of)?.[1];
  const isSame = ({ kind, name, uid }: KnownRival, other: Rival | undefined): boolean =>
    kind === other?.kind && name === other.name && uid === other.uid;
  return known?.length === rivals.length && known.every((one, at) => isSame(one, rivals[at]));
};
