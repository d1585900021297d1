import { finding } from "./doctor.ts";
import * as z from "zod";
import type { CheckedPoint, CheckResult } from "../../stack/cluster/check/report.ts";
import type { Connection } from "../../rules/model/records.ts";
import { SPEC_KIND_NAMES } from "../../rules/model/spec.ts";
import { frozen, pause } from "./holds.ts";
import { count, type FieldsOf, flag, only, text, time, type ViewOf } from "./view-of.ts";
import { HPA_VERSIONS } from "../../rules/model/spec-common.ts";

/**
 * One word for a cluster or a partition. `never synced`: no sync has ended. `late`: none has ended
 * for more than three periods. `unreachable`: no workload could be read, and the cluster did not
 * answer "not found" for any. `forbidden`: the cluster refuses our credentials or rights for every
 * autoscaler, or for every scale. `failing`: it answers, and no autoscaler could be evaluated, or
 * no scale made. `partly failing`: some failed, or partitions that differ. `frozen` and `paused`
 * only when nothing fails, so that a freeze hides no outage.
 */
export const CLUSTER_STATES = [
  "failing",
  "forbidden",
  "frozen",
  "late",
  "never synced",
  "ok",
  "partly failing",
  "paused",
  "unreachable",
] as const;
export const clusterState = z.enum(CLUSTER_STATES);
export type ClusterState = z.infer<typeof clusterState>;

const state = {
  state: clusterState,
  since: time.describe("when the state began; absent when it is not stored").exactOptional(),
  error: text
    .describe(
      "the error of the newest sync, at most about 400 characters; absent when nothing fails",
    )
    .exactOptional(),
} as const;
export type StateView = ViewOf<z.ZodObject<typeof state>>;

type Kind<Name> = Extract<Connection, { readonly kind: Name }>;

const connection = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("eks"),
    clusterId: text,
    region: text,
    roleArn: text.exactOptional(),
    endpoint: text.exactOptional(),
    caData: text.exactOptional(),
  } satisfies FieldsOf<Kind<"eks">>),
  z.object({
    kind: z.literal("secret"),
    secretId: text,
    context: text.exactOptional(),
    serviceAccount: text
      .describe("NAMESPACE/NAME of the only service account whose token is used; absent: any")
      .exactOptional(),
  } satisfies FieldsOf<Kind<"secret">>),
  z.object({
    kind: z.literal("kubeconfig"),
    path: text,
    context: text.exactOptional(),
  } satisfies FieldsOf<Kind<"kubeconfig">>),
]);

const namespaces = z.union([z.array(text), z.literal("all others")]);

const percent = z.number().describe("rounded down to a tenth");
/** How much of what was owed was done. */
export const decided = z
  .object({
    last15Minutes: percent.exactOptional(),
    lastHour: percent.exactOptional(),
    last24Hours: percent
      .describe("from a whole hour on, or from the last edit of the period or the partitions")
      .exactOptional(),
  })
  .describe(
    "the share of the due syncs, in percent, that decided: a sync came, the cluster could be read, and something could be evaluated. Absent where none was due, in one of these times or in all",
  );
export type DecidedView = ViewOf<typeof decided>;

export const cluster = z.object({
  name: text,
  ...state,
  decided: decided.exactOptional(),
  connection: connection
    .describe("absent where none is stored for this cluster, and for callers that may not see it")
    .exactOptional(),
  kubeSystemUid: text
    .describe(
      "the identity of the cluster: every call is sent to the cluster whose namespace kube-system has this uid, or to none; absent where it could not be read when the connection was stored, and with force",
    )
    .exactOptional(),
  server: z
    .object({ version: text, at: time })
    .describe(
      "the version of Kubernetes that the API server said, and when it was last asked: as the connection was stored, and by each check; absent where that is unknown",
    )
    .exactOptional(),
  tokenEnds: time
    .describe("when the token ends that the newest syncs used; absent where it says no end")
    .exactOptional(),
  syncPeriodSeconds: z.number(),
  partitions: z.array(
    z.object({
      name: text,
      namespaces,
      ...state,
      syncedAt: time.exactOptional(),
      ageSeconds: z.number().exactOptional(),
    }),
  ),
  paused: pause.exactOptional(),
  removing: z
    .object({ by: text, at: time })
    .describe("the removal that has begun and not ended; until it ends, nothing can be applied")
    .exactOptional(),
  specsFromCluster: z
    .array(z.enum(SPEC_KIND_NAMES))
    .describe(
      "the kinds of autoscalers that are read from the cluster; absent: people store all of them",
    )
    .exactOptional(),
  recommenderHosts: z
    .array(text)
    .describe("hosts of the recommenders that autoscalers from objects may ask; absent: none")
    .exactOptional(),
  labels: z.record(z.string(), text).describe("absent: none").exactOptional(),
  settings: z.object({
    tolerance: z.number(),
    downscaleStabilizationSeconds: z.number(),
    cpuInitializationPeriodSeconds: z.number(),
    initialReadinessDelaySeconds: z.number(),
    hpaVersion: z
      .enum(HPA_VERSIONS)
      .describe("the release that HPAs are decided as; absent: 1.37")
      .exactOptional(),
  }),
  version: count
    .describe("rises with each edit; absent for a caller who sees only some of its namespaces")
    .exactOptional(),
  autoscalers: count.exactOptional(),
});
export type ClusterView = ViewOf<typeof cluster>;

const RESULTS = [
  "passed",
  "warning",
  "failed",
  "skipped",
] as const satisfies readonly CheckResult[];

/** What was found at one point of a connection. */
const checkedPoint = z.object({
  check: text.describe('what was looked at: "reachable", "deployments.apps"'),
  result: z.enum(RESULTS),
  message: text,
  fix: text.describe("what to do; every point that failed or warns has it").exactOptional(),
} satisfies FieldsOf<CheckedPoint>);

export const clusterStored = cluster.extend({
  checks: z
    .array(checkedPoint)
    .describe("what was found before it was stored; absent where nothing was looked at")
    .exactOptional(),
});
/** The cluster as it was stored, and what was found before. */
export type ClusterStored = ViewOf<typeof clusterStored>;

export const connectionReport = z.object({
  name: text,
  usable: flag.describe(
    "false where a necessary point failed: no sync could read and scale a workload, or no source be asked",
  ),
  checks: z.array(checkedPoint),
  kubeSystemUid: text
    .describe("the uid of the namespace kube-system; absent where it could not be read")
    .exactOptional(),
  serverVersion: text
    .describe("the version that the API server said; absent where it did not say it")
    .exactOptional(),
  findings: z
    .array(finding)
    .describe("what the doctor finds beside the workload of `autoscaler`; absent without one")
    .exactOptional(),
});

export const standby = z
  .object({
    region: text.describe("where the fleet is; absent where that is not known").exactOptional(),
    since: time
      .describe("the newest move of the fleet to that region; absent where it never moved")
      .exactOptional(),
  })
  .describe(
    "present in a region that only has a replica of the tables: it reads, and plans nothing",
  );

export const fleet = z.object({
  frozen: frozen.exactOptional(),
  restored: only
    .describe(
      "present where the tables were restored or are a copy: no sync does anything until they are adopted",
    )
    .exactOptional(),
  standby: standby.exactOptional(),
  leaving: z
    .object({ to: text, at: time })
    .describe("present where the stack gave the fleet up for a region that has not taken it yet")
    .exactOptional(),
  moved: z
    .object({ from: text.exactOptional(), to: text.exactOptional(), by: text, at: time })
    .describe("the newest move between regions; absent where the fleet never moved")
    .exactOptional(),
});
export type FleetView = ViewOf<typeof fleet>;

/**
 * What one sync of all clusters together has and changes, as samples of the journal of the last day
 * say it. A cluster that the caller sees only in part is not in it.
 */
export const measuredOfFleet = z.object({
  since: time
    .describe("the oldest minute that was read and counts; absent where no sync was found")
    .exactOptional(),
  syncs: count.describe("syncs of a partition in the minutes that were read"),
  autoscalers: z.number().describe("in one sync of all clusters"),
  changed: z.number().describe("of them, those that changed what is remembered of them"),
  pods: z.number().describe("counts of their workloads together"),
  bytes: z.number().describe("that the clusters sent"),
  stretches: count.describe("times of the journal that were read, each at least half a read unit"),
});
export type MeasuredView = ViewOf<typeof measuredOfFleet>;

/** The fleet after its restored tables were adopted. */
export const fleetAdopted = fleet.extend({ clusters: count, autoscalers: count });
export type FleetAdopted = ViewOf<typeof fleetAdopted>;

/** The fleet after it was given up here, or taken. */
export const fleetMoved = z.object({
  kind: z
    .enum(["left", "taken", "repaired", "here"])
    .describe(
      "left: given up here; taken: it acts from here; repaired: it was here, and partitions that another region had written over go on; here: nothing was to be done",
    ),
  region: text.describe("where the fleet is, or may be taken"),
  from: text.describe("where it was").exactOptional(),
  takeAt: time.describe("when the region may take it; with `left`").exactOptional(),
  partitions: count.describe("that go on with an unknown past"),
  autoscalers: count,
});
export type FleetMoved = ViewOf<typeof fleetMoved>;

/** The fleet after the edit. */
export const fleetEdited = fleet.extend({
  changed: flag.describe("false when the fleet was already frozen, and stays as it was"),
});
export type FleetEdited = ViewOf<typeof fleetEdited>;

const storedPage = z.object({
  page: count,
  autoscalers: count,
  bytes: count,
  problem: text.describe("why it cannot be read").exactOptional(),
  held: z
    .array(text)
    .describe("the autoscalers that hold because of it, as NAMESPACE/NAME")
    .exactOptional(),
});
export type PageView = ViewOf<typeof storedPage>;

const intent = z.object({
  id: text,
  autoscaler: text.describe("as NAMESPACE/NAME; absent when it was deleted").exactOptional(),
  from: count.exactOptional(),
  to: count.exactOptional(),
  decidedAt: time.exactOptional(),
  deadline: time
    .describe("after it a sync settles the intent by what the cluster shows")
    .exactOptional(),
  problem: text.describe("why it cannot be read").exactOptional(),
});
export type IntentView = ViewOf<typeof intent>;

/** What a partition stores, for inspection by hand. */
export const partition = z.object({
  cluster: text,
  partition: text,
  namespaces,
  autoscalers: count,
  syncedAt: time.describe("absent before its first sync").exactOptional(),
  ageSeconds: z.number().exactOptional(),
  aheadSeconds: z
    .number()
    .describe(
      "a time of the head is ahead of the clock by this much, which is more than two clocks may differ: windows stand still until it has come",
    )
    .exactOptional(),
  epoch: count,
  leasedUntil: time
    .describe("end of the lease while a sync or an edit of stored data holds it")
    .exactOptional(),
  pages: z.array(storedPage),
  intents: z.array(intent).describe("scales whose outcome is not known"),
});
export type PartitionView = ViewOf<typeof partition>;

/** The result of a reset: unreadable data was replaced by safe values. */
export const reset = z.object({
  cluster: text,
  partition: text,
  autoscalers: z.array(text).describe("the autoscalers that go on from here, as NAMESPACE/NAME"),
  kept: z
    .object({ pk: text, sk: text, bytes: count })
    .describe("where the history has the unreadable bytes; absent when there were none")
    .exactOptional(),
});
export type ResetView = ViewOf<typeof reset>;
