import {
  type AwsPlace,
  accountOf,
  keyIn,
  type MetricSourceRecord,
  SOURCE_LIMITS,
  type SourceKind,
} from "../model/metric-source.ts";
import type { RegisteredQuery } from "./source.ts";
import { questionTo, type SourceName, weightOf } from "./sources.ts";

/** What a source is asked in a check. */
export interface SourceQuestion {
  /** PromQL. */
  readonly query?: string;
  readonly path?: string;
  readonly pointer?: string;
  readonly queue?: string;
}

/** What a session of the role of a source may do at most, whatever its role allows. */
export interface SessionRights {
  readonly action: string;
  readonly resource: string | readonly string[];
}

/** Everything that one kind of registered source answers, beside its address and its credential. */
interface KindRules {
  /** The source of a manifest whose question a check asks, so that it asks what a sync would ask. */
  readonly asks: SourceName;
  /**
   * The fields of that question: without a word of the person one that any server of the kind can
   * answer. `undefined` where the person must say more, which is in `needs`.
   */
  readonly fieldsOf: (source: MetricSourceRecord, asked: SourceQuestion) => object | undefined;
  readonly needs: string;
  /** Who has answered where a check found no value. Absent where a check needs one. */
  readonly answersEmpty?: string;
  /** True where a server names another one for a key, which is then asked. */
  readonly isCluster?: true;
  /** Absent for a kind that is no service of AWS. */
  readonly aws?: {
    readonly sessionOf: (place: AwsPlace) => SessionRights;
    /**
     * What a question each second costs in a month (730 hours), for each part of its weight, by the
     * list prices of us-east-1 of October 2026.
     */
    readonly dollarsEachSecond: (place: AwsPlace | undefined) => number;
    /** True where that is the most: a question may cost less. */
    readonly isMost?: true;
  };
}

const PROMQL = {
  asks: "prometheus",
  fieldsOf: (_source, { query = "vector(1)" }) => ({ query }),
  needs: "give --query",
} as const satisfies KindRules;

const REDIS = {
  asks: "redis",
  // A key that does not exist has no items, which any server can say.
  fieldsOf: ({ keys: [pattern] = [] }, { queue }) => {
    const asked = queue ?? pattern?.replaceAll("*", "tidemark-check");
    return asked === undefined ? undefined : { ...keyIn(asked), count: "Length" };
  },
  needs: "it allows no key; register it again with --key",
} as const satisfies KindRules;

/**
 * What is behind each kind of registered source. A kind is a word of `SOURCE_KINDS` and its entry
 * here; no other code asks which kind a source is of, but the fields that only one kind has.
 */
export const KINDS: Readonly<Record<SourceKind, KindRules>> = {
  prometheus: PROMQL,
  amp: {
    ...PROMQL,
    aws: {
      sessionOf: ({ region, roleArn, workspace = "" }) => ({
        action: "aps:QueryMetrics",
        resource: `${arnOf("aps", region, roleArn)}:${accountOf(roleArn)}:workspace/${workspace}`,
      }),
      // Of a sample; with all samples that the source allows.
      dollarsEachSecond: (place) =>
        2.628e-4 * (place?.maxSamples ?? SOURCE_LIMITS.maxSamples.default),
      isMost: true,
    },
  },
  http: {
    asks: "http",
    fieldsOf: (_source, { path, pointer }) =>
      path === undefined || pointer === undefined ? undefined : { path, pointer },
    needs: "give --path and --pointer of a number",
  },
  redis: REDIS,
  "redis-cluster": { ...REDIS, isCluster: true },
  sqs: {
    asks: "sqs",
    fieldsOf: ({ aws }, { queue }) => {
      const [accountId, name] = splitQueue(
        queue ?? aws?.queues?.find((pattern) => !pattern.includes("*")),
      );
      return name === undefined
        ? undefined
        : { queue: name, accountId, count: ["Visible", "InFlight", "Delayed"] };
    },
    needs: "its queues are patterns; give --queue with the name of one",
    aws: {
      sessionOf: ({ region, roleArn, queues = [] }) => ({
        action: "sqs:GetQueueAttributes",
        resource: queues.map((pattern) => {
          const [account, name] = pattern.includes("/")
            ? pattern.split("/")
            : [accountOf(roleArn), pattern];
          return `${arnOf("sqs", region, roleArn)}:${account}:${name}`;
        }),
      }),
      dollarsEachSecond: () => 1.0512,
    },
  },
  cloudwatch: {
    asks: "cloudwatch",
    fieldsOf: ({ aws }) => {
      const [pattern] = aws?.metricNamespaces ?? [];
      // A metric that does not exist has no values. Whoever may not read metrics gets an error in
      // place of this answer.
      return pattern === undefined
        ? undefined
        : {
            namespace: pattern.replaceAll("*", "Tidemark"),
            metric: "Check",
            periodSeconds: 60,
            offsetSeconds: 0,
          };
    },
    needs: "it allows no namespace",
    answersEmpty: "CloudWatch",
    aws: {
      // IAM limits GetMetricData neither by namespace nor by resource: the namespaces of the source
      // are compared before it is asked.
      sessionOf: () => ({ action: "cloudwatch:GetMetricData", resource: "*" }),
      dollarsEachSecond: () => 26.28,
    },
  },
};

/** The partition of AWS is the one of the role. */
const arnOf = (service: string, region: string, roleArn: string): string => {
  const [, partition = "aws"] = roleArn.split(":");
  return `arn:${partition}:${service}:${region}`;
};

/** "999988887777/mail", or a name in the account of the role. */
const splitQueue = (text = ""): readonly [accountId: string, name: string | undefined] => {
  const [first = "", second] = text.split("/");
  return second === undefined ? ["", first === "" ? undefined : first] : [first, second];
};

/** The question of a check; `undefined` where the person must say more. */
export const checkQuestionOf = (
  source: MetricSourceRecord,
  asked: SourceQuestion,
): RegisteredQuery | undefined => {
  const { asks, fieldsOf } = KINDS[source.kind];
  const fields = fieldsOf(source, asked);
  return fields && questionTo(asks, { source: source.name, ...fields });
};

/**
 * What AWS takes in a month for a question that is asked once in a time; of a workspace at most,
 * with all samples that its source allows.
 */
export const monthlyDollars = (
  query: RegisteredQuery,
  { kind, aws }: Pick<MetricSourceRecord, "kind" | "aws">,
  everySeconds: number,
): number => {
  const each = KINDS[kind].aws?.dollarsEachSecond(aws) ?? 0;
  return each === 0 ? 0 : (each * weightOf(query)) / everySeconds;
};
