import * as z from "zod";
import { SOURCE_KINDS } from "../../lib/model/metric-source.ts";
import { SPEC_KIND_NAMES } from "../../lib/model/spec-kinds.ts";
import type { CommandService, QueryService } from "../../lib/service/service.ts";
import type { EventView } from "../../lib/service/views/event-view.ts";

/** What the routes answer, for the description of the API. Objects are open, because fields are added between versions. docs/cli.md says what each field means. */
const text = z.string();
const time = z.string().meta({ format: "date-time" });
const count = z.int().min(0);
const open = z.looseObject({});
const pause = z.looseObject({ by: text, at: time, until: time.exactOptional() });
const frozen = z.looseObject({ by: text, at: time, reason: text });
const fleet = z.looseObject({ frozen: frozen.exactOptional(), restored: z.literal(true).exactOptional() });

const page = <Item extends z.ZodType>(item: Item) => z.looseObject({ items: z.array(item), next: text.exactOptional() });

const rival = z.looseObject({
  kind: text,
  name: text,
  uid: text.exactOptional(),
  desiredReplicas: count.exactOptional(),
  lastScaleAt: time.exactOptional(),
});

const specKind = z.enum(SPEC_KIND_NAMES);

const autoscaler = z.looseObject({
  cluster: text,
  namespace: text,
  name: text,
  uid: text,
  generation: count,
  dialect: text,
  target: open.exactOptional(),
  minReplicas: count.exactOptional(),
  maxReplicas: count.exactOptional(),
  origin: z.looseObject({ apiVersion: text, kind: specKind, uid: text, generation: count, goneAt: time.exactOptional() }).exactOptional(),
  state: z.enum(["active", "failing", "forbidden", "frozen", "held", "invalid", "limited", "paused", "shadow", "waiting"]),
  rivals: z.array(rival).exactOptional(),
  paused: pause.exactOptional(),
  clusterPaused: pause.exactOptional(),
  frozen: frozen.exactOptional(),
  currentReplicas: count.exactOptional(),
  desiredReplicas: count.exactOptional(),
  metrics: z.array(open),
  conditions: z.array(z.looseObject({ type: text, status: text, reason: text, message: text, since: time })),
  decision: z.looseObject({ at: time, kind: z.enum(["hold", "scale"]), reason: text, message: text, failed: z.boolean() }).exactOptional(),
  lastScaleAt: time.exactOptional(),
  syncedAt: time.exactOptional(),
  ageSeconds: z.number().exactOptional(),
  createdAt: time,
  updatedAt: time,
  updatedBy: text,
  problem: text.exactOptional(),
  manifest: z.unknown(),
});

const event = z.looseObject({
  id: text,
  at: time,
  settledAt: time,
  cluster: text,
  namespace: text,
  name: text,
  partition: text,
  uid: text,
  from: count,
  to: count,
  reason: text,
  message: text,
  outcome: z.enum(["applied", "refused", "unknown", "outside"]),
  specGeneration: count,
  metrics: z.array(open),
  steps: z.array(open),
  target: z.looseObject({ apiVersion: text, kind: text, name: text }),
  detail: text.exactOptional(),
} satisfies Readonly<Record<keyof EventView, z.ZodType>>);

const state = z.enum(["failing", "forbidden", "frozen", "late", "never synced", "ok", "partly failing", "paused", "unreachable"]);
const cluster = z.looseObject({
  name: text,
  state,
  since: time.exactOptional(),
  error: text.exactOptional(),
  connection: z.looseObject({ kind: z.enum(["eks", "kubeconfig", "secret"]) }).exactOptional(),
  syncPeriodSeconds: z.number(),
  partitions: z.array(
    z.looseObject({ name: text, state, namespaces: z.union([z.array(text), z.literal("all others")]), syncedAt: time.exactOptional() }),
  ),
  paused: pause.exactOptional(),
  specsFromCluster: z.array(specKind).exactOptional(),
  recommenderHosts: z.array(text).exactOptional(),
  settings: z.looseObject({ tolerance: z.number(), downscaleStabilizationSeconds: z.number() }),
  version: count,
});

const status = z.looseObject({
  healthy: z.boolean(),
  at: time,
  frozen: frozen.exactOptional(),
  clusters: count,
  states: z.record(text, count),
  partitions: count,
  syncs: z.looseObject({ planned: count, done: count, late: count }),
  paused: z.looseObject({ clusters: z.array(open), autoscalers: z.array(open), more: count }),
  overrides: z.looseObject({ active: z.array(open), more: count }).exactOptional(),
  deadLetters: z.looseObject({ syncs: count, plans: count.exactOptional() }).exactOptional(),
  problems: z.array(z.looseObject({ kind: text, message: text, next: text })),
  errors: z.array(z.looseObject({ cluster: text, state, error: text })),
});

const edited = z.looseObject({
  cluster: text,
  namespace: text,
  name: text,
  uid: text.exactOptional(),
  generation: count.exactOptional(),
  changed: z.boolean(),
});
const reset = z.looseObject({ cluster: text, partition: text, autoscalers: z.array(text) });
const fleetAdopted = fleet.extend({ clusters: z.int(), autoscalers: z.int() });
const fleetEdited = fleet.extend({ changed: z.boolean() });

const grant = z.looseObject({
  id: text,
  arn: text,
  role: z.enum(["view", "edit"]),
  cluster: text,
  namespace: text.exactOptional(),
  by: text,
  at: time,
});
const access = z.looseObject({ required: z.boolean(), grants: z.array(grant) });
const accessEdited = access.extend({ id: text.exactOptional(), changed: z.boolean() });

const override = z.looseObject({
  id: text,
  scope: z.enum(["fleet", "cluster", "namespace", "autoscaler"]),
  cluster: text.exactOptional(),
  namespace: text.exactOptional(),
  name: text.exactOptional(),
  state: z.enum(["active", "ahead", "expired"]),
  hold: z.boolean().exactOptional(),
  min: count.exactOptional(),
  max: count.exactOptional(),
  minFactor: z.number().exactOptional(),
  from: time,
  until: time.exactOptional(),
  reason: text,
  by: text,
  at: time,
  force: z.boolean().exactOptional(),
});
const bound = z.looseObject({ replicas: count, by: z.looseObject({ kind: text }) });
const bounds = z.looseObject({ min: bound, max: bound });
const overrideEdited = z.looseObject({
  override,
  changed: z.boolean(),
  meets: z.array(z.looseObject({ cluster: text, namespace: text, name: text, before: bounds, after: bounds })),
  more: z.boolean().exactOptional(),
  warnings: z.array(text),
});

const calendar = z.looseObject({ name: text, dates: z.array(text) });

const texts = z.record(z.string(), text);
const report = z.looseObject({ name: text, usable: z.boolean(), checks: z.array(z.looseObject({ check: text, result: text, message: text })) });
const source = z.looseObject({
  name: text,
  kind: z.enum(SOURCE_KINDS),
  url: text.exactOptional(),
  service: z.looseObject({ namespace: text, name: text, port: text, scheme: z.enum(["http", "https"]), path: text }).exactOptional(),
  aws: z
    .looseObject({
      region: text,
      roleArn: text,
      externalId: text,
      workspace: text.exactOptional(),
      maxSamples: z.int().exactOptional(),
      queues: z.array(text).exactOptional(),
      metricNamespaces: z.array(text).exactOptional(),
      search: z.boolean().exactOptional(),
    })
    .exactOptional(),
  auth: z.looseObject({ kind: z.enum(["basic", "bearer", "header"]), secretId: text, header: text.exactOptional() }).exactOptional(),
  headers: texts.exactOptional(),
  parameters: texts.exactOptional(),
  clusters: z.array(text),
  namespaces: z.array(text),
  timeoutSeconds: z.number(),
  maxMetrics: z.int(),
  private: z.boolean(),
  updatedAt: time,
  updatedBy: text,
});

export const ANSWERS: Readonly<Record<keyof QueryService | keyof CommandService, z.ZodType>> = {
  autoscalers: page(autoscaler),
  rows: page(
    z.looseObject({
      cluster: text,
      partitions: z.array(
        z.looseObject({
          name: text,
          version: count,
          mark: text.exactOptional(),
          unchanged: z.literal(true).exactOptional(),
          syncedAt: time.exactOptional(),
          ageSeconds: count.exactOptional(),
        }),
      ),
      rows: z.array(
        z.looseObject({
          partition: text.exactOptional(),
          namespace: text,
          name: text,
          uid: text,
          generation: count,
          measuredAt: time.exactOptional(),
        }),
      ),
    }),
  ),
  get: autoscaler,
  describe: autoscaler.extend({ windows: open, events: z.array(event) }),
  explain: z.looseObject({
    cluster: text,
    namespace: text,
    name: text,
    decision: open,
    ageSeconds: z.number(),
    stored: z.enum(["evaluation", "event"]),
    beforeSeconds: z.number().exactOptional(),
    metrics: z.array(open),
    steps: z.array(open),
    windows: open,
    windowsPartial: z.boolean(),
    otherwise: z.array(text),
  }),
  history: z.looseObject({
    cluster: text,
    namespace: text,
    name: text,
    uid: text,
    since: time,
    until: time,
    stepSeconds: z.number(),
    points: z.array(z.looseObject({ at: time, reason: text, metrics: z.array(open) })),
    next: time.exactOptional(),
  }),
  shadow: z.looseObject({
    cluster: text,
    namespace: text,
    name: text,
    since: time,
    until: time,
    rivals: z.array(rival),
    syncs: count,
    agreed: count,
    agreedWithinPeriod: count,
    undecided: count,
    replicaHours: z.looseObject({ own: z.number(), rival: z.number() }),
    stretches: z.array(z.looseObject({ at: time, until: time, syncs: count, reason: text, message: text })),
    reactions: z.array(z.looseObject({ at: time, from: count })),
  }),
  events: page(event),
  changes: page(z.looseObject({ at: time, by: text, verb: text })),
  series: z.looseObject({ families: z.array(open) }),
  clusters: page(cluster),
  cluster,
  partition: z.looseObject({ cluster: text, partition: text, autoscalers: count, epoch: count, pages: z.array(open), intents: z.array(open) }),
  fleet,
  calendars: z.looseObject({ calendars: z.array(calendar) }),
  putCalendar: calendar.extend({ changed: z.boolean(), added: count, removed: count }),
  deleteCalendar: z.looseObject({ name: text }),
  status,
  apply: z.looseObject({
    applied: z.array(
      z.looseObject({
        cluster: text,
        namespace: text,
        name: text,
        kind: text,
        outcome: z.enum(["created", "configured", "unchanged"]),
        uid: text.exactOptional(),
        generation: count,
        warnings: z.array(text),
      }),
    ),
    passedOver: z.array(z.looseObject({ kind: text, count })).exactOptional(),
  }),
  delete: edited,
  pause: edited,
  resume: edited,
  takeOver: edited,
  handBack: edited,
  checkCluster: report,
  checkSource: report,
  addCluster: cluster,
  replaceCluster: cluster,
  pauseCluster: cluster,
  resumeCluster: cluster,
  removeCluster: z.looseObject({ name: text }),
  resetWindows: reset,
  resetIntent: reset,
  resetTime: reset,
  freeze: fleetEdited,
  thaw: fleetEdited,
  adopt: fleetAdopted,
  sources: z.looseObject({ sources: z.array(z.union([source, z.looseObject({ name: text, problem: text })])) }),
  putSource: source.extend({ changed: z.boolean() }),
  deleteSource: z.looseObject({ name: text }),
  access,
  canI: z.looseObject({ allowed: z.boolean(), caller: text.exactOptional(), grant: text.exactOptional(), grants: z.array(grant) }),
  overrides: page(override),
  setOverride: overrideEdited,
  extendOverride: overrideEdited,
  clearOverride: overrideEdited,
  grantAccess: accessEdited,
  revokeAccess: accessEdited,
  requireAccess: accessEdited,
};

/** An error (RFC 9457). */
export const PROBLEM = z.looseObject({
  status: z.int(),
  code: text,
  detail: text,
  errors: z.array(z.looseObject({ field: text, message: text })).exactOptional(),
  url: text.exactOptional(),
  uid: text.exactOptional(),
  generation: count.exactOptional(),
});

/** The routes whose answer has the tag of one stored autoscaler. */
export const TAGGED: ReadonlySet<string> = new Set<keyof typeof ANSWERS>(["get", "apply", "pause", "resume"]);
