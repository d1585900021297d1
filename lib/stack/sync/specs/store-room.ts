import type { Because, Decision, Scale } from "../../../rules/model/decision.ts";
import { overBudget, editWaits, newerForbids, objectNotStored } from "../../report/holds.ts";
import {
  moveStoredBytes,
  NAMESPACE_BYTES_MAX,
  type RepaidMs,
  readStoredBytes,
  repaidAfter,
  roomFromMs,
  usedBytes,
} from "../../store/records/stored-bytes.ts";
import { mapInTurns } from "../../turns/gate.ts";
import type { SyncMessage } from "../../plan/message.ts";
import type { SyncPorts } from "../sync-ports.ts";
import { type Finding, manifestBytes } from "./finding.ts";
import { inStoreTurns, namespaceOf, writtenBytes } from "./store-turns.ts";
import { type EffectiveBounds, NOTHING_SET } from "../../../rules/model/override.ts";
import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import type { AutoscalerSpec } from "../../../rules/model/spec.ts";
import { effectiveBounds } from "../../../rules/policy/bounds/effective-bounds.ts";
import type { DecideInput } from "../../../rules/policy/decide.ts";
import type { PurePart } from "../pure-part.ts";
import type { KnownSpec, Waiting } from "../hand-over.ts";

/**
 * Most records that one sync stores. Each takes three writes; the others are stored by the next
 * syncs. With a period of 15 s these are 2,000 a minute, where the tables answer in 10 ms.
 */
export const STORED_MAX = 500;
/**
 * Most bytes that one sync writes for objects. A partition key of DynamoDB takes 1 MB a second, so
 * that more would be throttled.
 */
export const SYNC_BYTES_MAX = 2_000_000;
/**
 * Namespaces whose objects one sync stores. Each has an account to read and to write. Others have
 * their turn in the next.
 */
const NAMESPACES_MAX = 200;
export const PARALLEL = 20;

/** What one sync stores of what it has found. */
export interface Room {
  readonly admitted: readonly Finding[];
  /** No room in this sync. */
  readonly late: readonly Finding[];
  /** The namespace has used its bytes. */
  readonly over: readonly OverBudget[];
  /** Gives back the bytes of what was admitted and then not stored. */
  readonly giveBack: (findings: readonly Finding[]) => Promise<void>;
}

interface OverBudget {
  readonly finding: Finding;
  readonly because: Because;
}

/** The account of one namespace in this sync. */
interface Account {
  readonly namespace: string;
  readonly from: RepaidMs;
  to: RepaidMs;
  over: Because | undefined;
}

type Counted = Pick<SyncPorts, "tables">;

/**
 * Finds room for the findings that need a write, in fair turns, and counts their bytes before
 * anything is stored: a sync that dies has used them.
 */
export const roomFor = async (
  ports: Counted,
  message: SyncMessage,
  findings: readonly Finding[],
  nowMs: number,
): Promise<Room> => {
  const wanted = inStoreTurns(findings, message);
  const namespaces = [...new Set(wanted.map(namespaceOf))].slice(0, NAMESPACES_MAX);
  const accounts = await mapInTurns(
    namespaces,
    turnsOf<string>((namespace) => namespace),
    async (namespace): Promise<Account> => {
      const from = await readStoredBytes(ports.tables, message, namespace);
      return { namespace, from, to: from, over: undefined };
    },
  );
  const { admitted, late, over } = divided(
    wanted,
    new Map(accounts.map((account) => [account.namespace, account])),
    nowMs,
  );
  const refused = await refusedAccounts(ports, message, accounts);
  const isRefused = ({ finding }: Admitted): boolean => refused.has(namespaceOf(finding));
  return {
    admitted: admitted.filter((one) => !isRefused(one)).map(({ finding }) => finding),
    late: [...late, ...admitted.filter(isRefused).map(({ finding }) => finding)],
    over,
    giveBack: (left) => giveBack(ports, message, { accounts, admitted, left: new Set(left) }),
  };
};

const turnsOf = <Item>(flowOf: (item: Item) => string) => ({
  places: PARALLEL,
  elapsed: () => performance.now(),
  flowOf,
});

interface Admitted {
  readonly finding: Finding;
  readonly bytes: number;
}

type Divided = Pick<Room, "late" | "over"> & { readonly admitted: readonly Admitted[] };

const divided = (
  wanted: readonly Finding[],
  accounts: ReadonlyMap<string, Account>,
  nowMs: number,
): Divided => {
  const admitted: Admitted[] = [];
  const late: Finding[] = [];
  const over: OverBudget[] = [];
  let leftBytes = SYNC_BYTES_MAX;
  for (const finding of wanted) {
    const isFull = admitted.length >= STORED_MAX || leftBytes <= 0;
    const charged = chargedTo(accounts.get(namespaceOf(finding)), finding, { isFull, nowMs });
    if (charged === undefined) late.push(finding);
    else if (typeof charged !== "number") over.push({ finding, because: charged });
    else {
      leftBytes -= charged;
      admitted.push({ finding, bytes: charged });
    }
  }
  return { admitted, late, over };
};

/**
 * The bytes that a finding takes of the account of its namespace, or why it takes none: the reason
 * where the account is empty, undefined where the sync is full.
 */
const chargedTo = (
  account: Account | undefined,
  finding: Finding,
  { isFull, nowMs }: { readonly isFull: boolean; readonly nowMs: number },
): number | Because | undefined => {
  if (account?.over) return account.over;
  if (!account || isFull) return undefined;
  const bytes = writtenBytes(finding);
  account.over = overWith(account, bytes, nowMs);
  if (account.over) return account.over;
  account.to = repaidAfter(account.to, bytes, nowMs);
  return bytes;
};

/** Why so many bytes more are too many; undefined where they fit. */
const overWith = (
  { namespace, to }: Account,
  bytes: number,
  nowMs: number,
): Because | undefined => {
  const fromMs = roomFromMs(to, bytes);
  return fromMs > nowMs
    ? overBudget(namespace, {
        usedBytes: usedBytes(to, nowMs),
        bytesMax: NAMESPACE_BYTES_MAX,
        fromMs,
      })
    : undefined;
};

const refusedAccounts = async (
  ports: Counted,
  message: SyncMessage,
  accounts: readonly Account[],
): Promise<ReadonlySet<string>> => {
  const used = accounts.filter(({ from, to }) => to !== from);
  const moved = await mapInTurns(
    used,
    turnsOf<Account>(({ namespace }) => namespace),
    async (account) => ({
      account,
      isMoved: await moveStoredBytes(ports.tables, { partition: message, ...account }),
    }),
  );
  return new Set(moved.filter(({ isMoved }) => !isMoved).map(({ account }) => account.namespace));
};

const giveBack = async (
  ports: Counted,
  message: SyncMessage,
  {
    accounts,
    admitted,
    left,
  }: {
    readonly accounts: readonly Account[];
    readonly admitted: readonly Admitted[];
    readonly left: ReadonlySet<Finding>;
  },
): Promise<void> => {
  const unused = Map.groupBy(
    admitted.filter(({ finding }) => left.has(finding)),
    ({ finding }) => namespaceOf(finding),
  );
  await mapInTurns(
    accounts,
    turnsOf<Account>(({ namespace }) => namespace),
    async ({ namespace, to: from }) => {
      const bytes = (unused.get(namespace) ?? []).reduce((sum, one) => sum + one.bytes, 0);
      if (bytes > 0)
        await moveStoredBytes(ports.tables, {
          partition: message,
          namespace,
          from,
          to: repaidAfter(from, -bytes, 0),
        });
    },
  );
};

/**
 * Why a decision by the stored spec must not be made. On doubt, hold: nothing acts by a spec that
 * is not stored, and nothing that an edit has forbidden is done in the minute until it is stored.
 */
export const heldByNewer = (
  { because, newer }: Waiting,
  {
    spec,
    decision,
    nowMs,
    setByPeople,
  }: { readonly spec: AutoscalerSpec; readonly decision: Decision } & Pick<
    DecideInput,
    "nowMs" | "setByPeople"
  >,
): Because | undefined => {
  if (decision.kind === "hold") return undefined;
  if (!newer) return newerForbids(because, "it is invalid");
  if (newer.dryRun && !spec.dryRun) return newerForbids(because, "it is a dry run");
  if ((newer.pausedUntilMs ?? 0) > nowMs) return newerForbids(because, "it is paused");
  if (!isSameTarget(newer.target, spec.target))
    return newerForbids(because, `its target is ${newer.target.kind} "${newer.target.name}"`);
  return outsideNewer(because, decision, effectiveBounds(newer, setByPeople ?? NOTHING_SET, nowMs));
};

const outsideNewer = (
  because: Because,
  { from, to }: Pick<Scale, "from" | "to">,
  { min, max, paused }: EffectiveBounds,
): Because | undefined => {
  if (paused) return newerForbids(because, `its schedule "${paused.name}" pauses it`);
  if (to > from && to > max.replicas)
    return newerForbids(because, `its maxReplicas is ${max.replicas}, and ${to} were wanted`);
  if (to < from && to < min.replicas)
    return newerForbids(because, `its minReplicas is ${min.replicas}, and ${to} were wanted`);
  return undefined;
};

const isSameTarget = (one: AutoscalerSpec["target"], other: AutoscalerSpec["target"]): boolean =>
  one.apiVersion === other.apiVersion && one.kind === other.kind && one.name === other.name;

/** Most newer specs that one sync reads, and their bytes. */
const READ_MAX = { specs: STORED_MAX, bytes: SYNC_BYTES_MAX } as const;

/** An edit that is not stored yet. */
type Unstored = Extract<Finding, { kind: "waits" } | { kind: "store" }> & {
  readonly spec: KnownSpec;
};

/** True for the edit of an object whose autoscaler has a stored spec. */
export const hasStoredSpec = (finding: Finding): finding is Unstored =>
  finding.kind === "waits" ||
  (finding.kind === "store" && finding.spec?.record.origin !== undefined && !finding.isNewObject);

/**
 * The autoscalers that follow their stored spec on, in fair turns. What is over the bounds is left
 * out, and holds: what it says is not known.
 */
export const waitingOf = (
  rules: PurePart,
  findings: readonly Unstored[],
  message: SyncMessage,
): ReadonlyMap<AutoscalerUid, Waiting> => {
  const waiting = new Map<AutoscalerUid, Waiting>();
  let leftBytes: number = READ_MAX.bytes;
  for (const finding of inStoreTurns(findings, message)) {
    leftBytes -= manifestBytes(finding.manifest);
    if (waiting.size >= READ_MAX.specs || leftBytes < 0) break;
    const reading = rules.specOf(finding.manifest);
    waiting.set(finding.spec.record.uid, {
      because: becauseOf(finding),
      newer: reading.kind === "spec" ? reading.spec : undefined,
    });
  }
  return waiting;
};

const becauseOf = (finding: Unstored): Because => {
  const { origin } = finding.spec.record;
  if (finding.kind === "waits" || !origin)
    return finding.kind === "waits" ? finding.because : objectNotStored(finding.of);
  return editWaits(origin, { generation: finding.object.generation });
};
