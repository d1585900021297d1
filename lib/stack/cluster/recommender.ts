import { Buffer } from "node:buffer";
import { readFile } from "node:fs/promises";
import { request as requestPlain } from "node:http";
import { type RequestOptions, request as requestTls } from "node:https";
import type { SecureVersion } from "node:tls";
import { foreignText } from "../../rules/model/foreign-text.ts";
import type { Answer, RecommenderReply } from "../../rules/model/observation.ts";
import {
  asCount,
  asList,
  asObject,
  asText,
  isObject,
  type Json,
  jsonIn,
} from "../../rules/model/json.ts";
import type { Recommender, RecommenderTls } from "../../rules/model/spec-watermark.ts";
import type { Trusted } from "./access/access.ts";
import { bareHost, foreignLookup, isOwnHost } from "./reachable.ts";
import { MAX_RECOMMENDER_BYTES, RECOMMENDER_TIMEOUT_MS } from "./request-limits.ts";

/**
 * Posts one request to an external recommender, once, and reads its reply (watermark.md 2.16). It
 * does not follow redirects, because only the address in the manifest was reviewed. A CA file that
 * cannot be read is a failure; the original uses the roots of the system then.
 */
export const askRecommender = async (
  trusted: Trusted,
  recommender: Recommender,
  body: unknown,
  timeoutMs: number,
): Promise<Answer<RecommenderReply>> => {
  try {
    const url = new URL(recommender.url);
    if (url.username !== "" || url.password !== "")
      throw new Error(
        "its URL has a user or a password, and they would be stored and shown; remove them",
      );
    if (!trusted.files) refuseFiles(recommender.tls);
    if (!trusted.ownAddresses) refuseOwn(url);
    const options = {
      ...(trusted.ownAddresses ? {} : { lookup: foreignLookup }),
      ...(url.protocol === "https:" ? await tlsOptions(recommender.tls) : {}),
      signal: AbortSignal.timeout(Math.min(timeoutMs, RECOMMENDER_TIMEOUT_MS)),
    };
    const { status, text } = await post(url, JSON.stringify(body), options);
    return readRecommenderAnswer(status, text);
  } catch (error) {
    const why = foreignText(error instanceof Error ? error.message : String(error));
    const message = `Cannot ask the recommender at ${foreignText(placeOf(recommender.url))}: ${why}`;
    return { kind: "failed", failure: { code: 0, reason: "RecommenderUnreachable", message } };
  }
};

/** The address without user, password and parameters, which may be secrets. */
const placeOf = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url ? `${url.origin}${url.pathname}` : "an address that is no URL";
};

/** In functions a manifest may not use their files. */
const refuseFiles = ({ caFile, certFile, keyFile }: RecommenderTls): void => {
  const file = [caFile, certFile, keyFile].find((path) => path !== undefined && path !== "");
  if (file !== undefined)
    throw new Error(`its tlsConfig names the file "${file}", and no files are read here`);
};

/**
 * In functions a manifest may not use addresses of the machine. Names are checked when they are
 * resolved.
 */
const refuseOwn = ({ hostname }: URL): void => {
  if (isOwnHost(hostname))
    throw new Error(
      `${bareHost(hostname)} is an address of this machine, of its network link or of a metadata service`,
    );
};

const VERSIONS: Readonly<Record<string, SecureVersion>> = {
  TLS10: "TLSv1",
  TLS11: "TLSv1.1",
  TLS12: "TLSv1.2",
  TLS13: "TLSv1.3",
};

const tlsOptions = async ({
  caFile,
  certFile,
  keyFile,
  serverName,
  minVersion,
  maxVersion,
}: RecommenderTls): Promise<RequestOptions> => {
  const [ca, cert, key] = await Promise.all(
    [caFile, certFile, keyFile].map(async (path) => (path ? readFile(path) : undefined)),
  );
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(serverName && { servername: serverName }),
    ...versionOption("minVersion", minVersion),
    ...versionOption("maxVersion", maxVersion),
  };
};

const versionOption = (
  option: "minVersion" | "maxVersion",
  text: string | undefined,
): RequestOptions => {
  const version = text === undefined ? undefined : VERSIONS[text];
  return version === undefined ? {} : { [option]: version };
};

const post = (
  url: URL,
  body: string,
  options: RequestOptions,
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      "user-agent": "tidemark",
      "content-length": Buffer.byteLength(body),
    };
    const send = url.protocol === "https:" ? requestTls : requestPlain;
    const request = send(url, { ...options, method: "POST", headers }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_RECOMMENDER_BYTES)
          request.destroy(new Error(`the answer is larger than ${MAX_RECOMMENDER_BYTES} bytes`));
        else chunks.push(chunk);
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }),
      );
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });

const KNOWN = new Set([
  "targetReplicas",
  "lowerBoundReplicas",
  "upperBoundReplicas",
  "timestamp",
  "observedTargets",
  "reason",
  "error",
]);

/**
 * Reads the answer of a recommender, its status and body. Every answer but a 200 with a complete
 * valid reply is a failure (watermark.md 2.16). No message quotes the body: what answers there may
 * be any program of the network, and the writer of the manifest reads the message.
 */
export const readRecommenderAnswer = (status: number, text: string): Answer<RecommenderReply> => {
  if (status !== 200)
    return failed(status, `unexpected response code: ${status} (${Buffer.byteLength(text)} bytes)`);
  const body = jsonIn(text);
  return isObject(body)
    ? readRecommenderReply(body)
    : failed(status, "error unmarshaling response: the body is not a JSON object");
};

/**
 * Reads the JSON of a WorkloadRecommendationReply. An unknown field is a failure, because it may
 * change the meaning of the others.
 */
export const readRecommenderReply = (body: Json): Answer<RecommenderReply> => {
  if (Object.keys(body).some((key) => !KNOWN.has(key)))
    return failed(200, "error unmarshaling response: it has a field that no reply has");
  if (body["error"] !== undefined && body["error"] !== null) {
    const { code } = asObject(body["error"]);
    return failed(200, `error from recommender: ${asCount(code) ?? 0}`);
  }
  const [replicas, lower, upper] = [
    "targetReplicas",
    "lowerBoundReplicas",
    "upperBoundReplicas",
  ].map((key) => countOf(body[key]));
  if (replicas === undefined || lower === undefined || upper === undefined)
    return failed(200, "error unmarshaling response: a count is not a 32-bit integer");
  const observed = asObject(asList(body["observedTargets"])[0])["targetValue"];
  const observedValue = typeof observed === "number" && Number.isFinite(observed) ? observed : 0;
  return {
    kind: "answered",
    items: {
      replicas,
      lowerBoundReplicas: lower,
      upperBoundReplicas: upper,
      observedValue,
      reason: foreignText(asText(body["reason"])),
    },
  };
};

const MAX_I32 = 2_147_483_647;

/** A number; absent means 0. In this encoding a text of digits is a number too. */
const countOf = (value: unknown): number | undefined => {
  if (value === undefined || value === null) return 0;
  const count = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : asCount(value);
  return count !== undefined && Math.abs(count) <= MAX_I32 ? count : undefined;
};

const failed = (code: number, message: string): Answer<never> => ({
  kind: "failed",
  failure: { code, reason: "Recommender", message },
});
