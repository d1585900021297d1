import { gzipSync } from "node:zlib";
import type { ApiAnswer, ApiRequest, PlainAnswer } from "./messages.ts";
import { refusal } from "./problem.ts";

/** What a function may answer is 6 MB with its frame: text is a JSON string inside it, bytes are base64, a third longer. */
const ANSWER_BYTES_MAX = 6_000_000;
const BASE64_FACTOR = 4 / 3;
/** Shorter texts gain nothing. */
const COMPRESSED_FROM_CHARACTERS = 1_000;
const GZIP_LEVEL = 5;

const acceptsGzip = ({ headers }: ApiRequest): boolean => /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(headers["accept-encoding"] ?? "");

/** An answer as it is sent: packed where the caller takes it. Throws `api.too-long` where it would not fit even so. */
export const compressed = ({ status, type, text, headers: own }: PlainAnswer, request: ApiRequest): ApiAnswer => {
  const headers = { "content-type": type, "cache-control": "no-store", ...own };
  if (text.length >= COMPRESSED_FROM_CHARACTERS && acceptsGzip(request)) {
    const bytes = gzipSync(text, { level: GZIP_LEVEL });
    if (bytes.length * BASE64_FACTOR > ANSWER_BYTES_MAX) throw tooLong(request, text);
    return { status, headers: { ...headers, "content-encoding": "gzip", vary: "accept-encoding" }, body: bytes };
  }
  if (Buffer.byteLength(JSON.stringify(text)) > ANSWER_BYTES_MAX) throw tooLong(request, text);
  return { status, headers, body: text };
};

const tooLong = ({ path }: ApiRequest, text: string): Error =>
  refusal(
    "api.too-long",
    `Cannot answer ${JSON.stringify(path)}: ${text.length} characters are more than an answer may have; ask for gzip, or for less`,
    {
      status: 500,
    },
  );
