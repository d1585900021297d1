/**
 * What a Redis answers (RESP2, https://redis.io/docs/latest/develop/reference/protocol-spec/), as
 * JSON can hold it.
 */
export type RedisReply =
  | number
  | string
  | null
  | { readonly error: string }
  | readonly RedisReply[];

/** A command as the bytes that a server reads. */
export const commandBytes = (words: readonly string[]): Buffer =>
  Buffer.concat([
    Buffer.from(`*${words.length}\r\n`),
    ...words.flatMap((word) => {
      const bytes = Buffer.from(word, "utf8");
      return [Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from("\r\n")];
    }),
  ]);

/** The bytes are no answer of a Redis. */
class NoReply extends Error {}

interface Found {
  readonly reply: RedisReply;
  /** Where the next reply begins. */
  readonly next: number;
}

const DEPTH_MAX = 8;
const LINE_END = "\r\n";

/**
 * The reply that begins at `from`; undefined where bytes of it are still to come. Throws `NoReply`.
 * Whoever reads the bytes limits how many there are.
 */
export const replyAt = (bytes: Buffer, from: number, depth = 0): Found | undefined => {
  if (depth > DEPTH_MAX) throw new NoReply("the answer is too deep");
  const end = bytes.indexOf(LINE_END, from, "latin1");
  if (end < 0) return undefined;
  const kind = String.fromCharCode(bytes[from] ?? 0);
  const line = bytes.toString("utf8", from + 1, end);
  const next = end + LINE_END.length;
  switch (kind) {
    case "+":
      return { reply: line, next };
    case "-":
      return { reply: { error: line }, next };
    case ":":
      return { reply: wholeIn(line), next };
    case "$":
      return textOf(bytes, wholeIn(line), next);
    case "*":
      return listOf(bytes, wholeIn(line), { next, depth });
    default:
      throw new NoReply("the answer is not one of a Redis");
  }
};

const WHOLE = /^-?\d{1,16}$/;
const wholeIn = (text: string): number => {
  const number = WHOLE.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw new NoReply("the answer holds no whole number");
  return number;
};

const textOf = (bytes: Buffer, length: number, from: number): Found | undefined => {
  if (length < 0) return { reply: null, next: from };
  const to = from + length;
  if (bytes.length < to + LINE_END.length) return undefined;
  return { reply: bytes.toString("utf8", from, to), next: to + LINE_END.length };
};

const listOf = (
  bytes: Buffer,
  length: number,
  { next: from, depth }: { readonly next: number; readonly depth: number },
): Found | undefined => {
  if (length < 0) return { reply: null, next: from };
  const replies: RedisReply[] = [];
  let next = from;
  while (replies.length < length) {
    const found = replyAt(bytes, next, depth + 1);
    if (found === undefined) return undefined;
    replies.push(found.reply);
    next = found.next;
  }
  return { reply: replies, next };
};

/** Collects so many replies from the pieces in which they come. */
export interface ReplyReader {
  readonly take: (
    chunk: Buffer,
  ) =>
    | { readonly kind: "more" }
    | { readonly kind: "replied"; readonly replies: readonly RedisReply[] }
    | { readonly kind: "none"; readonly why: string };
  /** How many have come. */
  readonly bytes: () => number;
}

export const replyReader = (wanted: number): ReplyReader => {
  const replies: RedisReply[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let bytes = 0;
  const next = (): Found | undefined => (replies.length < wanted ? replyAt(rest, 0) : undefined);
  return {
    take: (chunk) => {
      bytes += chunk.length;
      rest = Buffer.concat([rest, chunk]);
      try {
        for (let found = next(); found; found = next()) {
          replies.push(found.reply);
          rest = rest.subarray(found.next);
        }
      } catch (error) {
        if (error instanceof NoReply) return { kind: "none", why: error.message };
        throw error;
      }
      return replies.length < wanted ? { kind: "more" } : { kind: "replied", replies };
    },
    bytes: () => bytes,
  };
};
