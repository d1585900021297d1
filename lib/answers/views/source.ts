import * as z from "zod";
import {
  type AwsPlace,
  type RegisteredSource,
  SECRET_AUTH_KINDS,
  type SecretAuth,
  SERVICE_SCHEMES,
  SIGNED_SERVICE_NAMES,
  type SignedAuth,
  SOURCE_KINDS,
  type SourceService,
} from "../../rules/model/metric-source.ts";
import { count, type FieldsOf, flag, text, time, type ViewOf } from "./view-of.ts";

const texts = z.record(z.string(), text);

const registered = {
  kind: z.enum(SOURCE_KINDS),
  url: text
    .describe("where its server is; absent where it is a service of the cluster itself")
    .exactOptional(),
  service: z
    .object({
      namespace: text,
      name: text,
      port: text,
      scheme: z.enum(SERVICE_SCHEMES),
      path: text,
    } satisfies FieldsOf<SourceService>)
    .describe("a service of each cluster, which is asked through the API server of that cluster")
    .exactOptional(),
  caData: text
    .describe("PEM of the authority of the certificate of the url, in base64")
    .exactOptional(),
  aws: z
    .object({
      region: text,
      roleArn: text,
      externalId: text,
      workspace: text.exactOptional(),
      maxSamples: count.exactOptional(),
      queues: z.array(text).exactOptional(),
      metricNamespaces: z.array(text).exactOptional(),
      accounts: z.array(text).exactOptional(),
      search: flag.exactOptional(),
    } satisfies FieldsOf<AwsPlace>)
    .describe(
      "the place in AWS, for the kinds that are services of AWS and for requests that are signed as theirs are",
    )
    .exactOptional(),
  auth: z
    .union([
      z.object({
        kind: z.enum(SECRET_AUTH_KINDS),
        secretId: text,
        header: text.exactOptional(),
      } satisfies FieldsOf<SecretAuth>),
      z.object({
        kind: z.literal("sigv4"),
        service: z.enum(SIGNED_SERVICE_NAMES),
      } satisfies FieldsOf<SignedAuth>),
    ])
    .describe(
      "kind basic, bearer, header, headers, mtls or oauth2 with secretId, and header for kind header; or kind sigv4 with the service of AWS that guards the url",
    )
    .exactOptional(),
  headers: texts
    .describe("sent with each question, such as the tenant of Mimir or Thanos")
    .exactOptional(),
  parameters: texts.exactOptional(),
  clusters: z.array(text).describe("patterns of the clusters whose autoscalers may ask it"),
  namespaces: z.array(text),
  timeoutSeconds: z.number(),
  maxMetrics: count.describe("most different questions of one sync of a partition"),
  maxDollars: count
    .exactOptional()
    .describe(
      "most dollars a month of the questions of a partition, by list prices; 500 if absent",
    ),
  private: flag.describe(
    "true where its address may be in a private network, and where it may be asked without TLS",
  ),
  partialAnswers: flag
    .describe(
      "of prometheus: true where an answer with warnings counts, from which a part may be missing",
    )
    .exactOptional(),
  keys: z
    .array(text)
    .describe("of redis and redis-cluster: patterns of the keys that may be counted")
    .exactOptional(),
} satisfies FieldsOf<RegisteredSource>;

export const source = z.object({ name: text, ...registered, updatedAt: time, updatedBy: text });
export type SourceView = ViewOf<typeof source>;

/**
 * A source whose record cannot be read: metrics that name it are missing. It can be registered
 * again, or deleted.
 */
export const unreadableSource = z.object({ name: text, problem: text });
export type UnreadableSource = ViewOf<typeof unreadableSource>;

export const sourceEdited = source.extend({
  changed: flag.describe("false when nothing had to change"),
});
export type SourceEdited = ViewOf<typeof sourceEdited>;

/**
 * The series of all autoscalers. NaN and the infinities are text, because JSON has no number for
 * them.
 */
export const series = z.object({
  families: z.array(
    z.object({
      name: text.describe("of a counter without `_total`"),
      type: z.enum(["gauge", "counter"]),
      help: text,
      samples: z.array(z.object({ labels: texts, value: z.union([z.number(), text]) })),
    }),
  ),
});
export type SeriesJson = ViewOf<typeof series>;
