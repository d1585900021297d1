import * as z from "zod";
import { jsonIn } from "../../rules/model/json.ts";
import { jsonText, type Reply, refusal } from "./request-and-answer.ts";

/** Limits of one page. The first limit reached ends the page. An item is never divided. */
export interface PageLimits {
  /** Far below the 6 MB of a function's answer, so that a caller holds little in memory. */
  readonly bytes: number;
  /** The page closes after this time, which is far below the life of a function. */
  readonly ms: number;
}

export const PAGE_LIMITS: PageLimits = { bytes: 1_000_000, ms: 5_000 };

/** Collects the items of one page as JSON, and the cursor where the list goes on. */
export class AnswerPage<Cursor extends object> {
  readonly #texts: string[] = [];
  readonly #limits: PageLimits;
  readonly #clock: () => number;
  readonly #endMs: number;
  #bytes = 0;

  constructor(limits: PageLimits, clock: () => number) {
    this.#limits = limits;
    this.#clock = clock;
    this.#endMs = clock() + limits.ms;
  }

  /** How many more items of the size of those before it holds. */
  readonly room = (): number =>
    ((this.#limits.bytes - this.#bytes) / Math.max(1, this.#bytes)) * this.#texts.length;

  get isLate(): boolean {
    return this.#clock() >= this.#endMs;
  }

  /**
   * Adds items until the page is full or late, or `isEnough` with the item. Returns the cursor of
   * the last item seen, or undefined at the end of the list.
   */
  async fill<Item>(
    items: AsyncIterable<Item>,
    cursorOf: (item: Item) => Cursor,
    isEnough: (item: Item) => boolean = () => false,
  ): Promise<Cursor | undefined> {
    for await (const item of items) {
      const text = JSON.stringify(item);
      this.#texts.push(text);
      this.#bytes += Buffer.byteLength(text) + 1;
      if (isEnough(item) || this.#bytes >= this.#limits.bytes || this.isLate) return cursorOf(item);
    }
    return undefined;
  }

  /** `{"items":[…],"next":"…"}`; `next` is absent at the end of the list. */
  reply(next: string | undefined): Reply {
    return jsonText(
      `{"items":[${this.#texts.join(",")}]` +
        `${next === undefined ? "" : `,"next":${JSON.stringify(next)}`}}`,
    );
  }
}

/** Format of the tokens. A token of another version is refused. */
const TOKEN_VERSION = 1;

/**
 * The token of a page: version, query and cursor, as base64url of JSON. It holds names and times
 * only, and a caller can make one up.
 */
export const pageToken = (question: object, cursor: object): string =>
  Buffer.from(JSON.stringify([TOKEN_VERSION, questionText(question), cursor])).toString(
    "base64url",
  );

const questionText = (question: object): string =>
  JSON.stringify(Object.entries(question).toSorted(([one], [other]) => (one < other ? -1 : 1)));

/**
 * Reads the cursor in a page token. Throws `api.invalid` when the token is malformed or belongs to
 * another query.
 */
export const cursorIn = <Cursor>(
  schema: z.ZodType<Cursor>,
  question: object,
  token: string,
): Cursor => {
  const whole = z.tuple([z.literal(TOKEN_VERSION), z.literal(questionText(question)), schema]);
  const read = whole.safeParse(jsonIn(Buffer.from(token, "base64url").toString("utf8")));
  if (read.success) return read.data[2];
  const message =
    'is not a page of this list; use "next" of the previous answer with the same other parameters';
  throw refusal("api.invalid", `Cannot read the request: "page" ${message}`, {
    status: 400,
    errors: [{ field: "page", message }],
  });
};
