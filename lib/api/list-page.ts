import { jsonText, type Reply } from "./request-and-answer.ts";

/** Limits of one page. The first limit reached ends the page. An item is never divided. */
export interface PageLimits {
  /** Far below the 6 MB of a function's answer, so that a caller holds little in memory. */
  readonly bytes: number;
  /** The page closes after this time, which is far below the life of a function. */
  readonly ms: number;
}

export const PAGE_LIMITS: PageLimits = { bytes: 1_000_000, ms: 5_000 };

/** Collects the items of one page as JSON, and the cursor where the list goes on. */
export class Page<Cursor extends object> {
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

  get isLate(): boolean {
    return this.#clock() >= this.#endMs;
  }

  /** Adds the wanted items until the page is full or late. Returns the cursor of the last item seen, or undefined at the end of the list. */
  async fill<Item>(
    items: AsyncIterable<Item>,
    cursorOf: (item: Item) => Cursor,
    isWanted: (item: Item) => boolean = () => true,
  ): Promise<Cursor | undefined> {
    for await (const item of items) {
      if (isWanted(item)) this.#add(JSON.stringify(item));
      if (this.#bytes >= this.#limits.bytes || this.isLate) return cursorOf(item);
    }
    return undefined;
  }

  #add(text: string): void {
    this.#texts.push(text);
    this.#bytes += Buffer.byteLength(text) + 1;
  }

  /** `{"items":[…],"next":"…"}`; `next` is absent at the end of the list. */
  reply(next: string | undefined): Reply {
    return jsonText(`{"items":[${this.#texts.join(",")}]${next === undefined ? "" : `,"next":${JSON.stringify(next)}`}}`);
  }
}
