import { isDeepStrictEqual } from "node:util";
import { mustAllow } from "../../../rules/model/access.ts";
import type { TidemarkError } from "../../../rules/model/errors.ts";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import { namespace } from "../../../rules/model/ids.ts";
import { nonEmpty, present } from "../../../rules/model/json.ts";
import { labelFaults } from "../../../rules/model/kubernetes-names.ts";
import {
  alarmFault,
  type RegisteredWake,
  WAKE_LIMITS,
  type WakeRecord,
} from "../../../rules/model/wake.ts";
import type { ClusterRecord } from "../../../rules/model/records.ts";
import { partitionsOfWake, type Wake, type WokenPartition } from "../../../stack/plan/wake.ts";
import {
  deleteWakeRecord,
  getWake,
  lastWakeVersion,
  listWakes,
  putWakeRecord,
  type WakeItem,
} from "../../../stack/store/records/wakes.ts";
import type { UnreadableWake, WakeEdited, WakeView, WokenView } from "../../views/wake.ts";
import { type QueryContext, type ServiceContext, sees } from "../context.ts";
import { faultsOfLabels } from "../clusters/cluster-faults.ts";
import { findCluster } from "../find-autoscaler.ts";
import { recordChange } from "../partitions/record-change.ts";
import { conflict, invalid, unknown, untilStored } from "../refusals.ts";
import type { NewWake, SentWake } from "../requests.ts";
import { rfc3339 } from "../times.ts";

const viewOf = ({ version: _version, updatedMs, updatedBy, ...wake }: WakeRecord): WakeView => ({
  ...wake,
  updatedAt: rfc3339(updatedMs),
  updatedBy,
});

const contentOf = ({
  name: _name,
  version: _version,
  updatedMs: _at,
  updatedBy: _by,
  ...wake
}: WakeRecord): RegisteredWake => wake;

/** The registered wakes of what the caller may look at, in order of name. */
export const wakes = async (
  context: QueryContext,
): Promise<readonly (WakeView | UnreadableWake)[]> => {
  const seen: (WakeView | UnreadableWake)[] = [];
  for await (const item of listWakes(context.tables)) {
    if (item.kind === "read") {
      if (maySee(context, item.record)) seen.push(viewOf(item.record));
    } else if (sees(context)) {
      const problem = `its record cannot be read: ${foreignText(item.message)}; register it again, or delete it`;
      seen.push({ name: item.name, problem });
    }
  }
  return seen;
};

const othersEdit = (name: string) => (): TidemarkError =>
  conflict(`Cannot edit wake "${name}": others are editing it`, { name });
const notFound = (name: string): TidemarkError =>
  unknown(`Cannot find wake "${name}": run tidemark wake list`, { name });

/** An edit of a wake needs the right to edit what it wakes. */
const mustEdit = (
  { rights }: ServiceContext,
  { cluster, namespace: inside }: Pick<RegisteredWake, "cluster" | "namespace">,
): void => {
  if (rights) mustAllow(rights, "edit", present({ cluster, namespace: inside }));
};

const maySee = (context: QueryContext, { cluster, namespace: inside }: WakeRecord): boolean =>
  sees(context, cluster, inside);

/** Says nothing of what another tenant has stored under the name. */
const taken = (name: string): TidemarkError =>
  conflict(`Cannot register wake "${name}": the name is taken; choose another name`, { name });

/** The edits of the wakes of a cluster are one scope of changes. */
const scopeOf = (wake: RegisteredWake) =>
  ({ scope: "wake", name: wake.cluster, namespace: wake.namespace }) as const;

/** What is wrong with a wake beside the names of what it wakes. */
export const wakeFaults = ({
  name,
  alarm,
  namespace: inside,
  names = [],
  labels = {},
}: NewWake): readonly string[] => {
  const alarmProblem = alarmFault(alarm);
  return [
    ...labelFaults(name).map((fault) => `its name ${fault}`),
    ...(alarmProblem === undefined ? [] : [`alarm ${alarmProblem}`]),
    ...(inside === undefined ? [] : labelFaults(inside)).map((fault) => `namespace ${fault}`),
    ...faultsOfLabels(labels),
    ...(names.length > WAKE_LIMITS.names
      ? [
          `it names ${names.length} autoscalers, and the limit is ${WAKE_LIMITS.names}; leave them out to wake the whole namespace`,
        ]
      : []),
  ];
};

/** Registers a wake, or replaces the one of its name. Throws `service.invalid` with every fault. */
export const putWake = async (context: ServiceContext, wanted: NewWake): Promise<WakeEdited> => {
  const { name } = wanted;
  const faults = wakeFaults(wanted);
  if (faults.length > 0)
    throw invalid(`Cannot register wake "${foreignText(name)}": ${faults.join("; ")}`, { name });
  const cluster = await findCluster(context, wanted.cluster);
  const wake: RegisteredWake = {
    alarm: wanted.alarm,
    cluster: cluster.name,
    ...present({
      namespace: wanted.namespace === undefined ? undefined : namespace(wanted.namespace),
      names: wanted.names,
      labels: nonEmpty(wanted.labels ?? {}),
    }),
  };
  mustEdit(context, wake);
  return untilStored(othersEdit(name), async () => {
    const item = await getWake(context.tables, name);
    const stored = replacedBy(context, item);
    if (stored && isDeepStrictEqual(contentOf(stored), wake))
      return { ...viewOf(stored), changed: false };
    if (!item) await mustHaveRoom(context, name);
    const version = (versionOf(item) ?? (await lastWakeVersion(context.tables, name))) + 1;
    const record = { ...wake, name, version, updatedMs: context.clock(), updatedBy: context.by };
    await recordChange(context, {
      ...scopeOf(wake),
      version,
      verb: "register",
      ...(stored && { before: { name, ...contentOf(stored) } }),
      after: { name, ...wake },
    });
    const { kind } = await putWakeRecord(context.tables, record, versionOf(item));
    return kind === "stored" ? { ...viewOf(record), changed: true } : undefined;
  });
};

/** The record that an edit replaces, if there is a readable one. Its own place counts too. */
const replacedBy = (
  context: ServiceContext,
  item: WakeItem | undefined,
): WakeRecord | undefined => {
  if (item?.kind !== "read") return undefined;
  if (!maySee(context, item.record)) throw taken(item.record.name);
  mustEdit(context, item.record);
  return item.record;
};

const mustHaveRoom = async ({ tables }: ServiceContext, name: string): Promise<void> => {
  const { length: count } = await Array.fromAsync(listWakes(tables));
  if (count >= WAKE_LIMITS.registered)
    throw invalid(
      `Cannot register wake "${name}": there are ${count} wakes, and the limit is ${WAKE_LIMITS.registered}; delete some`,
      { name },
    );
};

const versionOf = (item: WakeItem | undefined): number | undefined =>
  item?.kind === "read" ? item.record.version : item?.version;

/** Forgets a wake: its alarm wakes nothing from now on. Throws `service.unknown`. */
export const deleteWake = async (context: ServiceContext, name: string): Promise<void> => {
  await untilStored(othersEdit(name), async () => {
    const item = await getWake(context.tables, name);
    const version = versionOf(item);
    if (!item || version === undefined) throw notFound(name);
    if (item.kind === "read") {
      const { record } = item;
      if (!maySee(context, record)) throw notFound(name);
      mustEdit(context, record);
      const before = { name, ...contentOf(record) };
      const change = { version: version + 1, verb: "unregister", before } as const;
      await recordChange(context, { ...scopeOf(record), ...change });
    } else if (context.rights) mustAllow(context.rights, "edit", {});
    const { kind } = await deleteWakeRecord(context.tables, name, version);
    return kind === "stored" || undefined;
  });
};

const SYNC = { sync: "sent", joins: "joined", planned: "planned" } as const satisfies Record<
  Exclude<WokenPartition["kind"], "elsewhere">,
  string
>;

/**
 * Has what is named synced now. It names no count, and changes nothing that is stored. Everything
 * is checked before anything is woken. Throws `service.unknown`, `service.invalid`,
 * `service.no-grant`, `service.conflict`.
 */
export const wake = async (
  context: ServiceContext,
  wanted: readonly SentWake[],
): Promise<WokenView> => {
  const checked = await Promise.all(wanted.map((each) => checkedWake(context, each)));
  const waker = context.wake;
  if (!waker)
    throw conflict("Cannot wake: no run is alive here that would sync; start it with npm start");
  const woken: WokenView["woken"][number][] = [];
  for (const { cluster, wake: of } of checked)
    for (const { kind, partition, dueMs } of await waker(cluster, of)) {
      if (kind === "elsewhere")
        throw conflict(`Cannot wake cluster "${cluster.name}": the fleet is in another region`);
      woken.push({ cluster: cluster.name, partition, sync: SYNC[kind], dueAt: rfc3339(dueMs) });
    }
  return { woken };
};

const checkedWake = async (
  context: ServiceContext,
  { cluster: name, namespace: inside, names, reason }: SentWake,
): Promise<{ readonly cluster: ClusterRecord; readonly wake: Wake }> => {
  const cluster = await findCluster(context, name);
  const place = {
    cluster: cluster.name,
    ...(inside !== undefined && { namespace: namespace(inside) }),
  };
  mustEdit(context, place);
  if (partitionsOfWake(cluster, place).length === 0)
    throw invalid(
      `Cannot wake namespace "${foreignText(inside ?? "")}" in cluster "${cluster.name}": no partition of the cluster has it`,
      { namespace: inside },
    );
  return { cluster, wake: { ...place, ...present({ names }), reason } };
};
