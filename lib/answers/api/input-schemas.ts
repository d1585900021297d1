import * as z from "zod";
import { ROLES } from "../../rules/model/access.ts";
import { CLUSTER_LABELS_MAX } from "../../rules/model/cluster-limits.ts";
import { readInstant } from "../../rules/model/time-text.ts";
import { SOURCE_LIMITS } from "../../rules/model/metric-source.ts";
import {
  MIN_FACTOR_MAX,
  OVERRIDE_REPLICAS_MAX,
  REASON_CHARACTERS_MAX,
} from "../../rules/model/override.ts";
import { ALL_CALENDAR_DATES_MAX, CHANGES_AHEAD_MAX } from "../../rules/model/schedule.ts";
import { WAKE_LIMITS } from "../../rules/model/wake.ts";
import { alerts } from "../../stack/plan/wake-alerts.ts";
import { SPEC_KIND_NAMES, VALIDATIONS } from "../../rules/model/spec.ts";
import type { ClusterChange, ManifestSource, NewCluster } from "../service/service.ts";
import { type NewSource, ROW_FIELDS } from "../service/requests.ts";
import { connectionFields } from "../../stack/store/records/schemas.ts";
import { sourceFields } from "../../stack/store/records/metric-sources.ts";
import { HPA_VERSIONS } from "../../rules/model/spec-common.ts";

/**
 * Names become parts of table keys, whose length is limited. The longest is CLUSTER/NAMESPACE/NAME.
 */
const NAME_CHARACTERS_MAX = 400;
const LABEL_CHARACTERS_MAX = 63;
const TEXT_CHARACTERS_MAX = 4_000;
const FILE_CHARACTERS_MAX = 4_000;
const SOURCES_MAX = 1_000;
const PARTITIONS_MAX = 1_000;
const NAMESPACES_MAX = 5_000;
/** Longer than any useful setting. The service checks the limit of each. */
const DURATION_MS_MAX = 31 * 86_400_000;
const RATIO_MAX = 1_000;

const atMost = (characters: number): string => `must have at most ${characters} characters`;
const ascii = (most: number) =>
  z
    .string()
    .max(most, atMost(most))
    .regex(/^[!-~]+$/, "must be printable ASCII without blanks, and not empty");
const label = ascii(LABEL_CHARACTERS_MAX);
/** Text that a table can store: well-formed Unicode. */
const text = (most: number) =>
  z
    .string()
    .max(most, atMost(most))
    .refine((value) => value.isWellFormed(), "must be well-formed Unicode");
const words = text(TEXT_CHARACTERS_MAX).min(1, "must not be empty");

/** An RFC 3339 time, read as milliseconds. */
const instant = z.string().transform((time, { addIssue }) => {
  const atMs = readInstant(time);
  if (atMs !== undefined) return atMs;
  addIssue("must be an RFC 3339 time such as 2026-03-01T12:00:00Z");
  return z.NEVER;
});
/** A query parameter is a text. */
const wholeNumber = (most: number, of = "") =>
  z
    .string()
    .regex(/^[1-9][0-9]{0,4}$/, `must be a whole number${of} from 1 to ${most}`)
    .transform(Number)
    .refine((number) => number <= most, `must be at most ${most}`);
const page = z.string().max(4_000, atMost(4_000));

const filter = { cluster: label.exactOptional(), namespace: label.exactOptional() };
const autoscaler = { name: ascii(NAME_CHARACTERS_MAX), ...filter };

export const FILTER = z.strictObject({ ...filter, page: page.exactOptional() });
/** Marks of 1,000 partitions. */
const MARKS_CHARACTERS_MAX = 8_000;
const ROW_KINDS_MAX = 10;
/** More do not fit in a page anyway. */
const ROWS_A_PAGE_MAX = 10_000;
export const ROWS = z.strictObject({
  ...filter,
  name: label.exactOptional(),
  kinds: text(TEXT_CHARACTERS_MAX)
    .transform((kinds) => kinds.split(","))
    .refine((kinds) => kinds.length <= ROW_KINDS_MAX, `must be at most ${ROW_KINDS_MAX} kinds`)
    .exactOptional(),
  selector: words.exactOptional(),
  known: text(MARKS_CHARACTERS_MAX).exactOptional(),
  fields: text(TEXT_CHARACTERS_MAX)
    .transform((fields) => fields.split(","))
    .pipe(
      z.array(
        z.enum(ROW_FIELDS, { error: `must be names of fields of a row, such as "state,reason"` }),
      ),
    )
    .exactOptional(),
  most: wholeNumber(ROWS_A_PAGE_MAX).exactOptional(),
  page: page.exactOptional(),
});
export const AUTOSCALER = z.strictObject(autoscaler);
export const AUTOSCALER_AT = z.strictObject({ ...autoscaler, at: instant.exactOptional() });
export const AUTOSCALER_SINCE = z.strictObject({
  ...autoscaler,
  since: instant.exactOptional(),
  until: instant.exactOptional(),
});
/** A screen has some 40 rows. The windows of schedules are counted out, so fewer at once. */
const NAMES_MAX = { sparklines: 100, schedules: 25 };
const wholeNames = (most: number) =>
  text(most * LABEL_CHARACTERS_MAX * 2)
    .transform((names) => names.split(","))
    .refine(
      (names) => names.length <= most,
      `must be at most ${most} names of the form CLUSTER/NAMESPACE/NAME`,
    );
export const SPARKLINES = z.strictObject({ names: wholeNames(NAMES_MAX.sparklines) });
const given = instant.exactOptional();
const ahead = { at: given, until: given, next: wholeNumber(CHANGES_AHEAD_MAX).exactOptional() };
export const AUTOSCALER_SCHEDULE = z.strictObject({ ...autoscaler, ...ahead });
export const SCHEDULES = z.strictObject({ names: wholeNames(NAMES_MAX.schedules), ...ahead });
const STEP_SECONDS_MAX = 86_400;
export const AUTOSCALER_HISTORY = AUTOSCALER_SINCE.extend({
  step: wholeNumber(STEP_SECONDS_MAX, " of seconds").exactOptional(),
  why: z.literal("true", { error: 'must be "true", or left out' }).exactOptional(),
});
export const EVENTS = z.strictObject({
  ...filter,
  name: autoscaler.name.exactOptional(),
  since: instant.exactOptional(),
  until: instant.exactOptional(),
  page: page.exactOptional(),
});
/** Of a list of all: what happened in clusters that are removed meanwhile. */
const REMOVED = {
  removed: z
    .literal("true", { error: 'must be "true", or left out' })
    .transform(() => true as const)
    .exactOptional(),
};
export const PAST_EVENTS = EVENTS.extend(REMOVED);
export const DOCTOR = EVENTS.omit({ since: true, until: true });
export const CHANGES = PAST_EVENTS.omit({ until: true });
/** The name of a region of AWS. */
export const FLEET_MOVE = z.strictObject({
  to: z
    .string()
    .regex(/^[a-z]{2,6}(-[a-z]{2,12}){1,3}-\d{1,2}$/, "must be a region, as eu-central-1"),
});
export const NO_FIELDS = z.strictObject({});
/** Label names, separated by blanks or commas. */
export const SERIES = z.strictObject({
  ...filter,
  labels: text(TEXT_CHARACTERS_MAX).exactOptional(),
});
export const CLUSTERS = z.strictObject({ page: page.exactOptional() });
export const CLUSTER = z.strictObject({ name: label });
/** A partition is named CLUSTER/PARTITION. */
export const PARTITION = z.strictObject({ name: ascii(NAME_CHARACTERS_MAX) });

const source: z.ZodType<ManifestSource> = z.strictObject({
  file: text(FILE_CHARACTERS_MAX),
  text: z.string(),
});
export const APPLY = z.strictObject({
  sources: z.array(source).max(SOURCES_MAX, `must have at most ${SOURCES_MAX} items`),
  ...filter,
  dryRun: z.boolean().default(false),
  validation: z.enum(VALIDATIONS, `must be one of ${VALIDATIONS.join(", ")}`).default("strict"),
});
export const AUTOSCALER_UNTIL = z.strictObject({ ...autoscaler, until: instant.exactOptional() });
/** The service checks its size. */
export const AUTOSCALER_RIVAL = z.strictObject({
  ...autoscaler,
  rival: z.record(z.string(), z.unknown()),
});
export const TAKEOVER = AUTOSCALER_RIVAL.extend({ failed: z.boolean().exactOptional() });
export const CLUSTER_UNTIL = z.strictObject({ name: label, until: instant.exactOptional() });
const PAGES_MAX = 1_000_000;
export const PARTITION_PAGE = z.strictObject({
  name: ascii(NAME_CHARACTERS_MAX),
  page: z
    .number()
    .int("must be a whole number")
    .min(0, "must not be negative")
    .max(PAGES_MAX, `must be at most ${PAGES_MAX}`),
});
export const PARTITION_INTENT = z.strictObject({
  name: ascii(NAME_CHARACTERS_MAX),
  intent: ascii(NAME_CHARACTERS_MAX),
});
export const FREEZE = z.strictObject({
  reason: words.regex(/\S/, "must have a word"),
  replace: z.boolean().exactOptional(),
});

export const OVERRIDES = z.strictObject({
  ...filter,
  name: autoscaler.name.exactOptional(),
  expired: z.literal("no", 'must be "no"').exactOptional(),
  page: page.exactOptional(),
});
const count = z
  .number()
  .int("must be a whole number")
  .min(1, "must be at least 1")
  .max(OVERRIDE_REPLICAS_MAX, `must be at most ${OVERRIDE_REPLICAS_MAX}`);
/** The service checks what goes together. */
export const NEW_OVERRIDE = z.strictObject({
  ...filter,
  name: autoscaler.name.exactOptional(),
  fleet: z.boolean().exactOptional(),
  hold: z.boolean().exactOptional(),
  min: count.exactOptional(),
  max: count.exactOptional(),
  minFactor: z
    .number()
    .positive("must be above 0")
    .max(MIN_FACTOR_MAX, `must be at most ${MIN_FACTOR_MAX}`)
    .exactOptional(),
  from: instant.exactOptional(),
  until: instant.exactOptional(),
  reason: text(REASON_CHARACTERS_MAX).regex(/\S/, "must have a word"),
  force: z.boolean().exactOptional(),
  dryRun: z.boolean().exactOptional(),
});
const override = { id: label, cluster: label.exactOptional() };
export const OVERRIDE = z.strictObject(override);
export const OVERRIDE_UNTIL = z.strictObject({ ...override, until: instant });

const CALENDAR_RANGE_CHARACTERS_MAX = 21;
/** The service checks the dates, so that each fault is named. */
export const NEW_CALENDAR = z.strictObject({
  name: label,
  dates: z
    .array(text(CALENDAR_RANGE_CHARACTERS_MAX))
    .max(ALL_CALENDAR_DATES_MAX, `must have at most ${ALL_CALENDAR_DATES_MAX} items`),
});
export const CALENDAR = z.strictObject({ name: label, force: z.boolean().exactOptional() });

const PATTERN_CHARACTERS_MAX = 512;
const pattern = ascii(PATTERN_CHARACTERS_MAX);
const role = z.enum(ROLES, `must be one of ${ROLES.join(", ")}`);
export const CAN_I = z.strictObject({ verb: role, ...filter });
export const GRANT = z.strictObject({
  arn: pattern,
  role,
  cluster: pattern,
  namespace: pattern.exactOptional(),
});
const sourceTexts = z.record(label, words);
export const NEW_SOURCE: z.ZodType<NewSource> & { readonly shape: object } = z.strictObject({
  ...sourceFields,
  name: label,
  url: words.exactOptional(),
  headers: sourceTexts.exactOptional(),
  parameters: sourceTexts.exactOptional(),
  clusters: z.array(pattern).max(SOURCE_LIMITS.patterns),
  namespaces: z.array(pattern).max(SOURCE_LIMITS.patterns),
  timeoutSeconds: z.number().exactOptional(),
  maxMetrics: z.number().exactOptional(),
  maxDollars: z.number().exactOptional(),
  private: z.boolean().exactOptional(),
});
export const SOURCE_CHECK = z.strictObject({
  name: label,
  cluster: label.exactOptional(),
  query: text(TEXT_CHARACTERS_MAX).exactOptional(),
  path: words.exactOptional(),
  pointer: words.exactOptional(),
  queue: label.exactOptional(),
});
export const SOURCE = z.strictObject({ name: label });
const labels = z
  .record(
    ascii(NAME_CHARACTERS_MAX),
    z
      .string()
      .max(LABEL_CHARACTERS_MAX, atMost(LABEL_CHARACTERS_MAX))
      .regex(/^[!-~]*$/, "must be printable ASCII without blanks"),
  )
  .refine(
    (all) => Object.keys(all).length <= CLUSTER_LABELS_MAX,
    `must have at most ${CLUSTER_LABELS_MAX} items`,
  );
const wakePlace = {
  namespace: label.exactOptional(),
  names: z
    .array(label)
    .min(1, "must not be empty; leave it out to wake all")
    .max(WAKE_LIMITS.names, `must have at most ${WAKE_LIMITS.names} items`)
    .exactOptional(),
};
export const NEW_WAKE = z.strictObject({
  name: label,
  alarm: words,
  cluster: label,
  ...wakePlace,
  labels: labels.exactOptional(),
});
export const WAKE_NAME = z.strictObject({ name: label });
const ownWake = { cluster: label, ...wakePlace, reason: words.exactOptional() };
/**
 * A wake, or the payload of a webhook of Alertmanager or Grafana, which has `alerts` and many other
 * fields. Beside `alerts` no field of a wake counts; without it no other field is known.
 */
export const WAKE = z
  .looseObject({ ...ownWake, cluster: label.exactOptional(), alerts: alerts.exactOptional() })
  .superRefine((body, { addIssue }) => {
    if (body.alerts !== undefined) return;
    const strict = z.strictObject(ownWake).safeParse(body, { reportInput: true });
    // What is wrong with a field that is there was found above.
    const sent: Readonly<Record<string, unknown>> = body;
    for (const issue of strict.error?.issues ?? [])
      if (issue.path.length === 0 || sent[String(issue.path[0])] === undefined)
        addIssue({ ...issue });
  });
export const REVOKE = z.strictObject({ id: label });
export const REQUIRE = z.strictObject({ required: z.boolean() });

const { eks, secret } = connectionFields({ text: words, caData: text(20_000) });
/** No kubeconfig: a function cannot read a file of the caller. */
const connection = z.discriminatedUnion(
  "kind",
  [z.strictObject(secret), z.strictObject(eks)],
  'must be "secret" or "eks": a deployed stack cannot read a kubeconfig file',
);
const durationMs = z
  .number()
  .min(0, "must not be negative")
  .max(DURATION_MS_MAX, `must be at most ${DURATION_MS_MAX}`);
const settings = z.strictObject({
  tolerance: z
    .number()
    .min(0, "must not be negative")
    .max(RATIO_MAX, `must be at most ${RATIO_MAX}`)
    .exactOptional(),
  downscaleStabilizationMs: durationMs.exactOptional(),
  cpuInitializationPeriodMs: durationMs.exactOptional(),
  initialReadinessDelayMs: durationMs.exactOptional(),
  hpaVersion: z.enum(HPA_VERSIONS, `must be ${HPA_VERSIONS.join(" or ")}`).exactOptional(),
});
const partition = z.strictObject({
  name: label,
  namespaces: z
    .array(label)
    .max(NAMESPACES_MAX, `must have at most ${NAMESPACES_MAX} items`)
    .exactOptional(),
});

const RECOMMENDER_HOSTS_MAX = 20;
const optionalParts = {
  syncPeriodMs: durationMs.exactOptional(),
  partitions: z
    .array(partition)
    .max(PARTITIONS_MAX, `must have at most ${PARTITIONS_MAX} items`)
    .exactOptional(),
  settings: settings.exactOptional(),
  specsFromCluster: z
    .array(z.enum(SPEC_KIND_NAMES, `must be one of ${SPEC_KIND_NAMES.join(", ")}`))
    .max(SPEC_KIND_NAMES.length, `must have at most ${SPEC_KIND_NAMES.length} items`)
    .exactOptional(),
  recommenderHosts: z
    .array(ascii(NAME_CHARACTERS_MAX))
    .max(RECOMMENDER_HOSTS_MAX, `must have at most ${RECOMMENDER_HOSTS_MAX} items`)
    .exactOptional(),
  labels: labels.exactOptional(),
  dryRun: z.boolean().exactOptional(),
  force: z.boolean().exactOptional(),
};
const KINDS_MAX = 20;
export const CLUSTER_CHECK = z.strictObject({
  name: label,
  kinds: z
    .array(ascii(NAME_CHARACTERS_MAX))
    .max(KINDS_MAX, `must have at most ${KINDS_MAX} items`)
    .exactOptional(),
  workload: z
    .strictObject({
      apiVersion: ascii(NAME_CHARACTERS_MAX),
      kind: ascii(NAME_CHARACTERS_MAX),
      namespace: ascii(NAME_CHARACTERS_MAX),
      name: ascii(NAME_CHARACTERS_MAX),
    })
    .exactOptional(),
  autoscaler: z
    .strictObject({
      namespace: ascii(NAME_CHARACTERS_MAX),
      name: ascii(NAME_CHARACTERS_MAX),
    })
    .exactOptional(),
});
export const NEW_CLUSTER: z.ZodType<NewCluster> & { readonly shape: object } = z.strictObject({
  name: label,
  connection,
  ...optionalParts,
});
export const CLUSTER_CHANGE: z.ZodType<ClusterChange> & { readonly shape: object } = z.strictObject(
  {
    name: label,
    connection: connection.exactOptional(),
    ...optionalParts,
  },
);
