import type { Json } from "../../../model/json.ts";
import type { Detail } from "../finding.ts";
import { triggerLabel } from "../scaled-object.ts";
import { textOf, withoutEffect } from "../schedules/timed.ts";
import { triggersIn } from "./places.ts";

const OF_THE_OBJECT = "KEDA reads it beside triggers, and not in the metadata of one";

/** Fields that people write into the metadata of a trigger, and that KEDA 2.21 reads in none. */
const NOT_READ: Readonly<Record<string, string>> = {
  metricName: "KEDA has not read it since 2.12",
  metricType: "KEDA reads it beside metadata, and not in it",
  name: "KEDA reads it beside metadata, and not in it",
  minReplicaCount: OF_THE_OBJECT,
  maxReplicaCount: OF_THE_OBJECT,
  pollingInterval: OF_THE_OBJECT,
  cooldownPeriod: OF_THE_OBJECT,
};

const NO_ACTIVATION = "cpu and memory have no activation in KEDA";
const NOT_READ_OF_TYPE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cpu: { activationThreshold: NO_ACTIVATION, activationValue: NO_ACTIVATION },
  memory: { activationThreshold: NO_ACTIVATION, activationValue: NO_ACTIVATION },
};

/** Types that read a field of these. */
const READ_BY: Readonly<Record<string, readonly string[]>> = { metricName: ["aws-cloudwatch"] };

/** Why KEDA does not read this field of this type of trigger; undefined where it may read it. */
export const whyUnread = (type: string, field: string): string | undefined => {
  if (Object.hasOwn(READ_BY, field) && READ_BY[field]?.includes(type)) return undefined;
  const ofType = Object.hasOwn(NOT_READ_OF_TYPE, type) ? NOT_READ_OF_TYPE[type] : undefined;
  if (ofType !== undefined && Object.hasOwn(ofType, field)) return ofType[field];
  return Object.hasOwn(NOT_READ, field) ? NOT_READ[field] : undefined;
};

export const NO_SUCH_FIELD =
  "KEDA 2.21 has no such field for this type, so that it has no effect there either; look whether it is misspelled";

const OF_METADATA = /^spec\.triggers\[(\d+)\]\.metadata(?:\.([\w-]+)|\["(.*)"\])$/;

/** The note of a field of a trigger that neither the conversion nor KEDA reads. */
export const unreadOfTrigger = (raw: Json, path: string): Detail | undefined => {
  const [, index, plain, quoted] = OF_METADATA.exec(path) ?? [];
  if (index === undefined) return undefined;
  const type = String(triggersIn(raw)[Number(index)]?.["type"]);
  return withoutEffect(
    `${triggerLabel(Number(index), type)}: ${plain ?? String(quoted)}`,
    NO_SUCH_FIELD,
  );
};

/** A note for each field of a trigger that has no effect in KEDA either. */
export const unreadFields = ({
  type,
  of,
  metadata,
}: {
  readonly type: string;
  readonly of: string;
  readonly metadata: Json;
}): readonly Detail[] =>
  Object.keys(metadata).flatMap((field) => {
    const why = whyUnread(type, field);
    if (why === undefined || textOf(metadata[field]) === undefined) return [];
    return [withoutEffect(`${of}: ${field}`, why)];
  });
