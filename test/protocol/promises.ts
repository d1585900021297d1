/** What `MUST` of exactly-once.pml promises, by its number. */
const PROMISES: Readonly<Record<number, string>> = {
  1: "A PUT takes effect only while its intent is open, or after its event was stored as applied or unknown",
  2: "Two effects are never closer than the rate window",
  3: "A PUT takes effect once",
  4: "An intent is stored only when none is open",
  5: "An intent that has its event is never stored again",
  6: "An intent is stored only by a worker whose windows count every effect",
  7: "An intent leaves the head only once it has its event, and nothing comes back",
  8: "No event says refused about a PUT that took effect",
  9: "No page loses a scale that was counted, and what leaves the head is on the page",
  10: "Recorded time never runs backwards",
  11: "A due time is done once",
};

/** A promise by its number. */
export const promiseOf = (number: number): string => PROMISES[number] ?? `promise ${number}`;

/** The promise behind the text of a failed assertion; the text itself where it has no number. */
export const promiseIn = (assertion: string): string =>
  PROMISES[Number(/promise==(\d+)/.exec(assertion)?.[1])] ?? `\`${assertion}\``;
