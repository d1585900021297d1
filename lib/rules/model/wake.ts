import type { ClusterName, Namespace } from "./ids.ts";

/** What an alarm of CloudWatch wakes. */
export interface RegisteredWake {
  /** The ARN of the alarm. Only its change to ALARM wakes. */
  readonly alarm: string;
  readonly cluster: ClusterName;
  /** Absent: all namespaces of the cluster. */
  readonly namespace?: Namespace;
  /** The autoscalers that it is about. A sync is of a whole partition in any case. */
  readonly names?: readonly string[];
  /** What files own it, for `apply --prune`. It wakes nothing by them. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** A wake that people have registered, as it is stored. */
export interface WakeRecord extends RegisteredWake {
  readonly name: string;
  /** Raised by every edit. An edit is a conditional write on it. */
  readonly version: number;
  readonly updatedMs: number;
  readonly updatedBy: string;
}

export const WAKE_LIMITS = {
  /** Registered wakes of a stack: the function that alarms call reads them all. */
  registered: 500,
  /** Names of one wake. More are one namespace. */
  names: 50,
  /** Alerts of one payload. Alertmanager and Grafana group them. */
  alerts: 100,
} as const;

/** An alarm of CloudWatch: names have at most 255 characters. */
const ALARM = /^arn:aws[a-z-]{0,20}:cloudwatch:[a-z0-9-]{1,25}:\d{12}:alarm:[ -~]{1,255}$/;
const ALARM_WORDS =
  "must be the ARN of an alarm of CloudWatch, such as arn:aws:cloudwatch:eu-central-1:123456789012:alarm:web-queue";

/** Why a text is no ARN of an alarm, or undefined. */
export const alarmFault = (arn: string): string | undefined =>
  ALARM.test(arn) ? undefined : ALARM_WORDS;
