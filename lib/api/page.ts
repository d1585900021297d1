import { jsonText, type Reply } from "./messages.ts";

/** What one answer holds of a list; the first of the limits that is met ends it. An item is never divided. */
export interface PageLimits {
  /** Far below the 6 MB that an answer of a function may have, so that a caller holds little at a time. */
  readonly bytes: number;
  /** Time after which a page is closed, far below the life of a function. */
  readonly ms: number;
}

export const PAGE_LIMITS: PageLimits = { bytes: 1_000_000, ms: 5_000 };

/** Items of one answer, as JSON, and where the list was left when it was not at its end. */
export class Page<Place extends object> {
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

  /** Takes the items that are wanted until the page is full or late; gives the place of the last one seen then, and nothing at the list's end. */
  async fill<Item>(
    items: AsyncIterable<Item>,
    placeOf: (item: Item) => Place,
    isWanted: (item: Item) => boolean = () => true,
  ): Promise<Place | undefined> {
    for await (const item of items) {
      if (isWanted(item)) this.#add(JSON.stringify(item));
      if (this.#bytes >= this.#limits.bytes || this.isLate) return placeOf(item);
    }
    return undefined;
  }

  #add(text: string): void {
    this.#texts.push(text);
    this.#bytes += Buffer.byteLength(text) + 1;
  }

  /** `{"items":[…],"next":"…"}`; without `next` at the end of the list. */
  reply(next: string | undefined): Reply {
    return jsonText(`{"items":[${this.#texts.join(",")}]${next === undefined ? "" : `,"next":${JSON.stringify(next)}`}}`);
  }
}
