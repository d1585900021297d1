import { gzipSync } from "node:zlib";
import { refusal } from "./problem.ts";
import type { ApiAnswer, ApiRequest, PlainAnswer } from "./request-and-answer.ts";

/** A function answers at most 6 MB with its frame. Text is a JSON string in that frame; bytes are base64, which is a third longer. */
const ANSWER_BYTES_MAX = 6_000_000;
const BASE64_FACTOR = 4 / 3;
/** Compression gains nothing below this length. */
const COMPRESSED_FROM_CHARACTERS = 1_000;
const GZIP_LEVEL = 5;

const acceptsGzip = ({ headers }: ApiRequest): boolean => /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(headers["accept-encoding"] ?? "");

/** Compresses an answer where the caller accepts gzip. Throws `api.too-long` where it does not fit even so. */
export const compressed = (answer: PlainAnswer, request: ApiRequest): ApiAnswer => {
  const { status, type, text, headers: own } = answer;
  const headers = { "content-type": type, "cache-control": "no-store", ...own };
  if (text.length >= COMPRESSED_FROM_CHARACTERS && acceptsGzip(request)) {
    const bytes = gzipSync(text, { level: GZIP_LEVEL });
    if (bytes.length * BASE64_FACTOR > ANSWER_BYTES_MAX) throw tooLong(request, answer, "compressed");
    return { status, headers: { ...headers, "content-encoding": "gzip", vary: "accept-encoding" }, body: bytes };
  }
  if (Buffer.byteLength(JSON.stringify(text)) > ANSWER_BYTES_MAX) throw tooLong(request, answer, "plain");
  return { status, headers, body: text };
};

const MEGABYTE = 1_000_000;

/** The request is at fault, not the stack: it asked for more than an answer holds, or in a form that is too large. */
const tooLong = ({ path }: ApiRequest, { text, narrower = "less" }: PlainAnswer, form: "compressed" | "plain"): Error => {
  const size = `${(text.length / MEGABYTE).toFixed(1)} MB do not fit into the ${ANSWER_BYTES_MAX / MEGABYTE} MB of an answer${form === "plain" ? "" : ", even compressed"}`;
  const advice = form === "plain" ? `send the header "accept-encoding: gzip", or ask for ${narrower}` : `ask for ${narrower}`;
  return refusal("api.too-long", `Cannot answer ${JSON.stringify(path)}: ${size}; ${advice}`, { status: form === "plain" ? 406 : 400 });
};
