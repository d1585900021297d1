import * as z from "zod";
import { WAKE_LIMITS } from "../../rules/model/wake.ts";
import { alertPayload, alertLabel, wakesOfAlerts, type WantedWake } from "./wake-alerts.ts";

/** The source of events that programs put on the bus themselves. */
export const WAKE_SOURCE = "tidemark.wake";
const ALARM_SOURCE = "aws.cloudwatch";
const ALARM = "ALARM";

/**
 * What an event asks: to sync what it names, or what is registered for an alarm. `nothing`: it is
 * well-formed and wakes nothing, such as an alarm that ends.
 */
export type WakeEvent =
  | { readonly kind: "wakes"; readonly wakes: readonly WantedWake[] }
  | { readonly kind: "alarm"; readonly arn: string }
  | { readonly kind: "nothing" };

const ownWake = z.strictObject({
  cluster: alertLabel,
  namespace: alertLabel.exactOptional(),
  names: z.array(alertLabel).min(1).max(WAKE_LIMITS.names).exactOptional(),
  reason: z.string().exactOptional(),
});

/** An event of EventBridge, with what its two rules let through (infra/wakes.yml). */
const busEvent = z.discriminatedUnion("source", [
  z.looseObject({ source: z.literal(WAKE_SOURCE), account: z.string(), detail: ownWake }),
  z.looseObject({
    source: z.literal(ALARM_SOURCE),
    resources: z.array(z.string()).min(1),
    detail: z.looseObject({ state: z.looseObject({ value: z.string() }) }),
  }),
]);

/** Messages of a topic of SNS: Lambda gets one at a time. */
const topicEvent = z.looseObject({
  Records: z
    .array(z.looseObject({ Sns: z.looseObject({ TopicArn: z.string(), Message: z.string() }) }))
    .length(1),
});

/** What CloudWatch writes into a topic when an alarm changes its state. */
const alarmMessage = z.looseObject({ AlarmArn: z.string(), NewStateValue: z.string() });

/** Reads an event of the bus or of the topic. Throws a ZodError, or a SyntaxError of a message. */
export const wakeEventOf = (event: unknown): WakeEvent => {
  const ofTopic = topicEvent.safeParse(event);
  const [record] = ofTopic.data?.Records ?? [];
  return record ? eventOfMessage(JSON.parse(record.Sns.Message)) : eventOfBus(event);
};

const eventOfBus = (event: unknown): WakeEvent => {
  const read = busEvent.parse(event);
  if (read.source === WAKE_SOURCE)
    return { kind: "wakes", wakes: [withReason(read.detail, `event of account ${read.account}`)] };
  const [arn = ""] = read.resources;
  return alarmEvent(arn, read.detail.state.value);
};

const eventOfMessage = (message: unknown): WakeEvent => {
  const alarm = alarmMessage.safeParse(message);
  if (alarm.success) return alarmEvent(alarm.data.AlarmArn, alarm.data.NewStateValue);
  const alerts = alertPayload.safeParse(message);
  if (alerts.success) return { kind: "wakes", wakes: wakesOfAlerts(alerts.data.alerts) };
  return { kind: "wakes", wakes: [withReason(ownWake.parse(message), "message of a topic")] };
};

/** Only the change to ALARM wakes: what ends can wait for the planned sync. */
const alarmEvent = (arn: string, state: string): WakeEvent =>
  state === ALARM ? { kind: "alarm", arn } : { kind: "nothing" };

const withReason = ({ reason, ...wake }: z.infer<typeof ownWake>, other: string): WantedWake => ({
  ...wake,
  reason: reason ?? other,
});
