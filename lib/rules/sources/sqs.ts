import { choice, group, listField, type ReadOf, words } from "../fields/field-types.ts";
import { awsDomain } from "../model/aws-partitions.ts";
import { isObject } from "../model/json.ts";
import { type AwsPlace, accountOf, mayCountQueue } from "../model/metric-source.ts";
import type { Answer, MetricValue } from "../model/observation.ts";
import type { NativeSourceOf, NativeSources } from "../model/spec-native.ts";
import {
  awsFailure,
  type ForeignAnswer,
  failure,
  type MetricSource,
  type RegisteredQuery,
  registeredSamples,
  unusable,
} from "./source.ts";
import { OK } from "../model/http-status.ts";

declare module "../model/spec-native.ts" {
  interface NativeSources {
    readonly Sqs: {
      readonly source: string;
      readonly queue: string;
      readonly accountId: string;
      readonly count: readonly QueueCount[];
    };
  }
}

/**
 * Messages by what holds them: waiting to be received, received and not deleted yet, or not due
 * yet.
 */
const ATTRIBUTES = {
  Visible: "ApproximateNumberOfMessages",
  InFlight: "ApproximateNumberOfMessagesNotVisible",
  Delayed: "ApproximateNumberOfMessagesDelayed",
} as const;
type QueueCount = keyof typeof ATTRIBUTES;
const COUNTS = Object.keys(ATTRIBUTES) as readonly QueueCount[];
const DEFAULT_COUNT: readonly QueueCount[] = ["Visible", "InFlight"];

/** A question for the numbers of messages of one queue. */
export interface SqsQuery extends RegisteredQuery {
  readonly for: "sqs";
  /** Empty for the account of the role. */
  readonly accountId: string;
  readonly queue: string;
  readonly count: string;
}

const QUEUE = {
  pattern: "^[a-zA-Z0-9_-]{1,75}([.]fifo)?$",
  detail: "must be the name of a queue: letters, digits, - and _",
  fix: "write the last part of its URL, such as orders or orders.fifo",
};
const ACCOUNT = {
  pattern: "^[0-9]{12}$",
  detail: "must be the twelve digits of an account",
  fix: "write it in quotes, or leave it out for the account of the role",
};

const FIELDS = {
  source: words("Name of the registered source (docs/sources.md).", {
    required: true,
    segment: true,
  }),
  queue: words("Name of the queue, without its URL: orders.", { required: true, form: QUEUE }),
  accountId: words(
    "The account of the queue, where it is not the account of the role of the source.",
    { form: ACCOUNT },
  ),
  count: listField(
    "Which messages count: Visible wait to be received, InFlight are received and not deleted yet, Delayed are not due yet.",
    choice("Messages.", COUNTS),
    "Visible" as QueueCount,
    { default: DEFAULT_COUNT, leastItems: 1 },
  ),
};

const questionOf = ({ source, queue, accountId, count }: NativeSources["Sqs"]): SqsQuery => ({
  for: "sqs",
  source,
  accountId,
  queue,
  count: COUNTS.filter((name) => count.includes(name)).join(","),
});

const attributesOf = ({ count }: SqsQuery): readonly string[] =>
  COUNTS.filter((name) => count.split(",").includes(name)).map((name) => ATTRIBUTES[name]);

/**
 * The host is the one of the Region, and never the host of a URL in a manifest: the request is
 * signed.
 */
const request = (query: SqsQuery, { aws }: { readonly aws?: AwsPlace | undefined }) => {
  const { region = "", roleArn = "" } = aws ?? {};
  const account = query.accountId || accountOf(roleArn);
  return {
    path: "/",
    parameters: {},
    call: {
      service: "sqs" as const,
      target: "AmazonSQS.GetQueueAttributes",
      body: {
        QueueUrl: `https://sqs.${region}.${awsDomain(region)}/${account}/${query.queue}`,
        AttributeNames: attributesOf(query),
      },
    },
  };
};

const WHOLE = /^\d{1,15}$/;

/** On doubt, a missing metric: each number that was asked for must be there. */
const read = (answer: ForeignAnswer, query: SqsQuery): Answer<readonly MetricValue[]> => {
  if (answer.status !== OK) return awsFailure(answer, REFUSALS);
  const attributes =
    isObject(answer.body) && isObject(answer.body["Attributes"]) ? answer.body["Attributes"] : {};
  const texts = attributesOf(query).map((name) => attributes[name]);
  const whole = texts.filter(
    (text): text is string => typeof text === "string" && WHOLE.test(text),
  );
  if (whole.length === 0 || whole.length < texts.length)
    return unusable(answer, "InvalidAnswer", "the answer lacks a number of messages");
  return {
    kind: "answered",
    items: [{ milli: whole.reduce((sum, text) => sum + BigInt(text), 0n) * 1000n, timestampMs: 0 }],
  };
};

const NO_QUEUE =
  "the queue does not exist in this account and Region, or the role of the source may not see it";
const REFUSALS = {
  QueueDoesNotExist: NO_QUEUE,
  NonExistentQueue: NO_QUEUE,
  AccessDenied:
    "the role of the source may not ask for the attributes of this queue (sqs:GetQueueAttributes)",
} as const;

/** The numbers of messages of an Amazon SQS queue, together. */
export const SQS: MetricSource<
  ReadOf<typeof FIELDS>,
  NativeSourceOf<"Sqs">,
  SqsQuery,
  readonly bigint[]
> = {
  type: "Sqs",
  field: group("The messages of an Amazon SQS queue, by a registered source.", FIELDS),
  measures: ["Total", "Average"],
  samplesOf: "whole",
  specOf: ({ source = "", queue = "", accountId = "", count }) => ({
    type: "Sqs",
    source,
    queue,
    accountId,
    count,
  }),
  namedBy: ["queue"],
  nameOf: ({ queue }) => `messages of queue ${queue}`,
  queryOf: questionOf,
  asking: {
    way: "registered",
    kinds: ["sqs"],
    refusal: ({ queue, accountId }, source) =>
      mayCountQueue(source, { queue, accountId })
        ? undefined
        : `source "${source.name}" does not allow queue "${queue}"${accountId && ` of account ${accountId}`}`,
    request,
    read,
  },
  samples: (spec, { answers }) =>
    registeredSamples(answers, questionOf(spec), {
      unable: (cause) =>
        failure(
          `unable to count the messages of queue "${spec.queue}" by source "${spec.source}": ${cause}`,
        ),
      empty: "the answer holds no number",
    }),
  statusOf: ({ source, queue }, current) => ({ type: "Sqs", sqs: { source, queue, current } }),
};
