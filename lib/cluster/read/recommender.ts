import { Buffer } from "node:buffer";
import { foreignWords } from "../../model/foreign-words.ts";
import type { Answer, RecommenderReply } from "../../model/observation.ts";
import { asCount, asList, asObject, asText, type Json } from "../../model/read/json.ts";

const KNOWN = new Set(["targetReplicas", "lowerBoundReplicas", "upperBoundReplicas", "timestamp", "observedTargets", "reason", "error"]);

/**
 * Reads the answer of a recommender, its status and body. Every answer but a 200 with a complete valid reply is a failure (watermark.md 2.16). No message quotes the body: what answers there
 * may be any program of the network, and the writer of the manifest reads the message.
 */
export const readRecommenderAnswer = (status: number, text: string): Answer<RecommenderReply> => {
  if (status !== 200) return failed(status, `unexpected response code: ${status} (${Buffer.byteLength(text)} bytes)`);
  const body = parsed(text);
  return body === undefined ? failed(status, "error unmarshaling response: the body is not a JSON object") : readRecommenderReply(body);
};

/** Reads the JSON of a WorkloadRecommendationReply. An unknown field is a failure, because it may change the meaning of the others. */
export const readRecommenderReply = (body: Json): Answer<RecommenderReply> => {
  if (Object.keys(body).some((key) => !KNOWN.has(key))) return failed(200, "error unmarshaling response: it has a field that no reply has");
  if (body["error"] !== undefined && body["error"] !== null) {
    const { code } = asObject(body["error"]);
    return failed(200, `error from recommender: ${asCount(code) ?? 0}`);
  }
  const [replicas, lower, upper] = ["targetReplicas", "lowerBoundReplicas", "upperBoundReplicas"].map((key) => countOf(body[key]));
  if (replicas === undefined || lower === undefined || upper === undefined)
    return failed(200, "error unmarshaling response: a count is not a 32-bit integer");
  const observed = asObject(asList(body["observedTargets"])[0])["targetValue"];
  const observedValue = typeof observed === "number" && Number.isFinite(observed) ? observed : 0;
  return {
    kind: "answered",
    items: { replicas, lowerBoundReplicas: lower, upperBoundReplicas: upper, observedValue, reason: foreignWords(asText(body["reason"])) },
  };
};

const MAX_I32 = 2_147_483_647;

/** A number; absent means 0. In this encoding a text of digits is a number too. */
const countOf = (value: unknown): number | undefined => {
  if (value === undefined || value === null) return 0;
  const count = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : asCount(value);
  return count !== undefined && Math.abs(count) <= MAX_I32 ? count : undefined;
};

const failed = (code: number, message: string): Answer<never> => ({ kind: "failed", failure: { code, reason: "Recommender", message } });

const parsed = (text: string): Json | undefined => {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null && !Array.isArray(body) ? asObject(body) : undefined;
  } catch (error) {
    // Only an error of JSON.parse means that the text is not JSON.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};
