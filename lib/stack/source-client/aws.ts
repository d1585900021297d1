import * as http from "node:http";
import * as https from "node:https";
import { SignatureV4 } from "@smithy/signature-v4";
import { type AwsCredentials, Sha256 } from "../aws/sha256.ts";
import { assumeRole } from "../cluster/access/assume-role.ts";
import { type Cached, cached } from "../cluster/access/access.ts";
import type { ServiceAnswer } from "../cluster/cluster-client.ts";
import { type Exchange, exchange } from "../cluster/transport/exchange.ts";
import { diagnosis } from "../cluster/transport/failure.ts";
import { awsDomain } from "../../rules/model/aws-partitions.ts";
import { foreignText } from "../../rules/model/foreign-text.ts";
import {
  type AwsPlace,
  accountOf,
  type MetricSourceRecord,
  SIGNED_SERVICES,
  type SignedService,
  signedServiceOf,
} from "../../rules/model/metric-source.ts";
import { KINDS } from "../../rules/sources/kinds.ts";
import type { RegisteredRequest } from "../../rules/sources/source.ts";
import { queryText, type SendToSource, type SignRequest, QUESTIONS_PARALLEL } from "./direct.ts";

export interface AwsSender {
  /**
   * The way to the service of a source, with the credentials of its role. Throws an Error where the
   * role cannot be assumed.
   */
  readonly senderTo: (
    source: MetricSourceRecord,
    aws: AwsPlace,
    cluster: string,
  ) => Promise<SendToSource>;
  /**
   * What signs the requests to an address of the source as the ones of a service of AWS, with the
   * role of the source. Throws an Error where the role cannot be assumed.
   */
  readonly signerFor: (
    source: MetricSourceRecord,
    aws: AwsPlace,
    cluster: string,
  ) => Promise<SignRequest>;
  readonly close: () => void;
}

/**
 * An account of AWS that is on this machine. Its roles are not assumed, and its credentials are
 * checked by nobody.
 */
export interface OwnAccount {
  readonly accountId: string;
  readonly url: string;
  readonly credentials: AwsCredentials;
}

/** A role is assumed for an hour, and again a while before its end. */
const ROLE_TTL_MS = 50 * 60_000;

/**
 * Signed requests to services of AWS, each with the role of its source. The clients of the SDK
 * would add more to the bundle than all sources have together. The host follows from the Region and
 * the service only, so that a signed request cannot be sent elsewhere.
 */
export const awsSender = ({
  clock,
  ownAccount,
}: {
  readonly clock: () => number;
  readonly ownAccount?: OwnAccount;
}): AwsSender => {
  const options = {
    keepAlive: true,
    maxSockets: QUESTIONS_PARALLEL.all,
    maxFreeSockets: QUESTIONS_PARALLEL.quick,
  };
  const agents = { plain: new http.Agent(options), secure: new https.Agent(options) };
  const roles = new Map<string, Cached<AwsCredentials>>();
  const roleOf = (
    source: MetricSourceRecord,
    aws: AwsPlace,
    cluster: string,
  ): Cached<AwsCredentials> => {
    const key = JSON.stringify([source.name, source.version, cluster]);
    const assume = async (): Promise<AwsCredentials> => {
      const { roleArn, externalId, region } = aws;
      return (
        await assumeRole({
          region,
          roleArn,
          externalId,
          cluster,
          policy: sessionPolicy(source, aws),
        })
      ).credentials;
    };
    const known = roles.get(key) ?? cached(assume, { ttlMs: ROLE_TTL_MS, clock });
    roles.set(key, known);
    return known;
  };
  const ownOf = ({ roleArn }: AwsPlace): OwnAccount | undefined =>
    ownAccount?.accountId === accountOf(roleArn) ? ownAccount : undefined;
  return {
    signerFor: async (source, aws, cluster) => {
      const credentials = ownOf(aws)?.credentials ?? (await roleOf(source, aws, cluster).get());
      const signer = signerOf(signedServiceOf(source) ?? "aps", aws.region, credentials);
      return async ({ url, path, parameters, headers }) => {
        const request = {
          method: "GET",
          protocol: url.protocol,
          hostname: url.hostname,
          path,
          query: { ...parameters },
        };
        return (
          await signer.sign(
            { ...request, headers: { ...headers, host: url.host } },
            { signingDate: new Date(clock()) },
          )
        ).headers;
      };
    },
    senderTo: async (source, aws, cluster) => {
      const own = ownOf(aws);
      const credentials = own?.credentials ?? (await roleOf(source, aws, cluster).get());
      return async (request, limits) => {
        const untilMs = clock() + limits.timeoutMs;
        const first = await sendOnce(request, limits);
        // One repeat, where the service throttles or the connection broke. Each of the calls reads
        // only.
        const leftMs = untilMs - clock();
        if (!isPassing(first) || leftMs <= 0) return answerOf(first, limits.timeoutMs);
        return answerOf(
          await sendOnce(request, { ...limits, timeoutMs: leftMs }),
          limits.timeoutMs,
        );
      };
      async function sendOnce(...[request, limits]: Parameters<SendToSource>): Promise<Exchange> {
        const { secure, ...signed } = await signedRequest(request, aws, {
          credentials,
          nowMs: clock(),
          ...(own && { url: own.url }),
        });
        return exchange({
          secure,
          options: { ...signed.options, agent: secure ? agents.secure : agents.plain },
          ...(signed.body !== undefined && { body: signed.body }),
          ...limits,
        });
      }
    },
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
};

const isPassing = (outcome: Exchange): boolean =>
  outcome.kind === "broken"
    ? outcome.because === "network"
    : outcome.status === 429 || outcome.status === 503 || /Throttl/.test(codeIn(outcome.bytes));

const codeIn = (bytes: Buffer): string => (bytes.length < 4_096 ? bytes.toString("latin1") : "");

const answerOf = (outcome: Exchange, timeoutMs: number): ServiceAnswer => {
  if (outcome.kind === "answered")
    return { kind: "answered", status: outcome.status, bytes: outcome.bytes };
  const { reason } = diagnosis(outcome, timeoutMs);
  return {
    kind: "failed",
    failure: {
      code: 0,
      reason,
      message: `AWS gave no answer (${foreignText(outcome.error.code ?? reason)})`,
    },
  };
};

interface Signing {
  readonly credentials: AwsCredentials;
  readonly nowMs: number;
  /** In place of the address of the service. */
  readonly url?: string;
}

/** The first part of the host, and the variable that replaces the whole host. */
const SERVICES = {
  sqs: { host: "sqs", variable: "AWS_ENDPOINT_URL_SQS" },
  aps: { host: "aps-workspaces", variable: "AWS_ENDPOINT_URL_AMP" },
  monitoring: { host: "monitoring", variable: "AWS_ENDPOINT_URL_CLOUDWATCH" },
} as const;
export type AwsService = keyof typeof SERVICES;

const signedRequest = async (
  { path, parameters, call }: RegisteredRequest,
  { region, workspace }: AwsPlace,
  { credentials, nowMs, url }: Signing,
) => {
  const service: AwsService = call?.service ?? "aps";
  const { protocol, hostname, port, host, pathname } =
    url === undefined ? serviceUrl(service, region) : new URL(url);
  const body = call && JSON.stringify(call.body);
  const below = call ? path : `/workspaces/${workspace ?? ""}${path}`;
  const whole = `${pathname.replace(/\/$/, "")}${below}`;
  const signer = signerOf(service, region, credentials);
  const method = call ? "POST" : "GET";
  const { headers } = await signer.sign(
    {
      method,
      protocol,
      hostname,
      path: whole,
      query: { ...parameters },
      headers: {
        host,
        accept: "application/json",
        "user-agent": "tidemark",
        ...(call && { "content-type": "application/x-amz-json-1.0", "x-amz-target": call.target }),
      },
      ...(body !== undefined && { body }),
    },
    { signingDate: new Date(nowMs) },
  );
  return {
    secure: protocol === "https:",
    options: {
      method,
      hostname,
      path: `${whole}${queryText(parameters)}`,
      headers,
      ...(port !== "" && { port }),
    },
    body,
  };
};

const signerOf = (
  service: AwsService | SignedService,
  region: string,
  credentials: AwsCredentials,
): SignatureV4 => new SignatureV4({ service, region, credentials, sha256: Sha256 });

/**
 * The environment variables are the ones of the AWS SDK; an endpoint of a VPC without private DNS
 * needs them.
 */
const serviceUrl = (service: AwsService, region: string): URL => {
  const domain = awsDomain(region);
  if (domain === undefined) throw new Error(`"${region}" is no region of AWS`);
  const { host, variable } = SERVICES[service];
  return new URL(
    process.env[variable] ||
      process.env["AWS_ENDPOINT_URL"] ||
      `https://${host}.${region}.${domain}`,
  );
};

/**
 * What a session of the role may do at most, whatever its role allows: read the queues, the
 * workspace or the metrics of this source, or call what guards its address.
 */
const sessionPolicy = (
  source: Pick<MetricSourceRecord, "kind" | "auth">,
  place: AwsPlace,
): string => {
  const signedService = signedServiceOf(source);
  // The address does not say the ARN of what guards it: the role limits the resource.
  const rights = signedService
    ? { action: SIGNED_SERVICES[signedService], resource: "*" }
    : KINDS[source.kind].aws?.sessionOf(place);
  if (!rights) throw new RangeError(`A source of kind "${source.kind}" has no role`);
  const { action, resource } = rights;
  return JSON.stringify({
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Action: action, Resource: resource }],
  });
};
