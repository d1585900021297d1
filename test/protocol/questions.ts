import type { Question } from "./check.ts";

const asks = (name: string, holds: boolean, macros: readonly string[]): Question => ({
  name,
  model: "exactly-once",
  macros,
  holds,
  hashed: true,
});

/**
 * The whole protocol. Each search has some of the faults, because all at once have too many states.
 */
const holds = (name: string, ...macros: readonly string[]): Question => asks(name, true, macros);

/**
 * Rules whose left-out search finds the break sooner in another order than spin's: most of them
 * after a tenth of the states and less. Whatever the order, a break is a break.
 */
const REVERSED: Readonly<Record<string, NonNullable<Question["reversed"]>>> = {
  "EPOCH_OF_INTEND NUMBER_OF_INTEND": ["processes", "choices"],
  NUMBER_OF_INTEND: ["choices"],
  PAGE_AS_READ: ["processes"],
  PAGE_NOT_NAMED: ["processes"],
  UNCOUNTED: ["processes"],
  OWN_TOKEN: ["processes"],
  TIME_OF_HEAD: ["processes"],
  TIME_OF_PAGE: ["processes"],
  TIME_AFTER_ANSWER: ["processes", "choices"],
  LOOK: ["processes"],
  PROOF_AFTER_DENIAL: ["processes"],
};

/**
 * A rule that is left out, in the smallest world that shows what it is for. The search ends sooner
 * than a fast one is compiled.
 */
const without = (name: string, macro: string, ...world: readonly string[]): Question => ({
  ...asks(`without ${name}`, false, [
    ...world,
    ...macro.split(" ").map((part) => `LEFT_OUT_${part}`),
  ]),
  small: true,
  ...(REVERSED[macro] && { reversed: REVERSED[macro] }),
});

/** A rule that another implies: without it everything holds. */
const implied = (name: string, macros: string, ...world: readonly string[]): Question =>
  asks(`implied: ${name}`, true, [...world, ...macros.split(" ")]);

const CLOCKS = ["DIFF=1"];
const EDITS = ["EDITS=1"];
const ALONE = ["SECOND_ROUNDS=0"];

export const QUESTIONS: readonly Question[] = [
  holds("two workers that stand still, die, and lose answers", "WINDOW=2", "END=5"),
  without("any condition when an intent is stored", "EPOCH_OF_INTEND NUMBER_OF_INTEND", "END=1"),
  without(
    "the write number when an intent is stored",
    "NUMBER_OF_INTEND",
    ...ALONE,
    "LATE_WRITES=1",
    "END=2",
  ),
  without(
    "the write number at the release",
    "NUMBER_OF_RELEASE",
    ...ALONE,
    "LATE_WRITES=1",
    "END=2",
  ),
  without("any condition at the release", "EPOCH_OF_RELEASE NUMBER_OF_RELEASE", "END=5"),
  without(
    "the condition of a page that the head names",
    "PAGE_AS_READ",
    "SECOND_ROUNDS=2",
    "WAVES",
    "WINDOW=1",
    "END=1",
  ),
  without(
    "the condition of a page that no head names yet",
    "PAGE_NOT_NAMED",
    "NEW_PAGES",
    "LATE_WRITES=1",
    "END=3",
  ),
  without("settled scales that stay in the head until a page counts them", "UNCOUNTED", "WAVES"),
  without("a look at the due time at the claim", "DUE_OF_CLAIM", "END=3"),
  without("a token of its own for each write", "OWN_TOKEN"),
  without("the check of the clock before a PUT", "CLOCK_CHECK", "LATE_END", "END=4"),
  without("an end to a stalled process", "END_OF_STALLED"),
  without("the deadline", "DEADLINE"),
  without("the clock difference in the deadline", "CLOCK_DIFFERENCE", ...CLOCKS),
  without("nowMs at least the head's", "TIME_OF_HEAD", ...CLOCKS, "PROXY", "END=2"),
  without("nowMs at least the page's", "TIME_OF_PAGE", ...CLOCKS, "END=3"),
  without("nowMs read before the observation", "NOW_BEFORE_OBSERVATION"),
  without("an event dated after the answer", "TIME_AFTER_ANSWER", "END=4"),
  without("the epoch of the intent in the id of its event", "INTENT_EPOCH"),
  without("a PUT that is never repeated", "NEVER_REPEATS", "END=3"),
  without("a look at the workload after a denial", "LOOK", "PROXY"),
  without(
    "the proof after a denial (only the count decides)",
    "PROOF_AFTER_DENIAL",
    "PROXY",
    ...EDITS,
  ),
  without("the proof of a refusal (only the count decides)", "PROOF_OF_REFUSAL", ...EDITS),
  holds(
    "only a PUT that may land late or never, with waves, new pages and a write that lands late",
    ...ALONE,
    "LATE_WRITES=1",
    "WAVES",
    "NEW_PAGES",
    "END=5",
  ),
];

/** Some minutes on an idle core. */
export const DEEPER: readonly Question[] = [
  holds("an end of life that comes late", "LATE_END", "WINDOW=2", "END=4"),
  holds("a person who edits", ...EDITS, "WINDOW=2", "END=4"),
  holds(
    "a person who edits, kinds without a generation",
    "NO_GENERATION",
    ...EDITS,
    "WINDOW=2",
    "END=4",
  ),
  holds(
    "a proxy that repeats PUTs, and a person who edits",
    "PROXY",
    ...EDITS,
    "WINDOW=2",
    "END=3",
  ),
  holds("clocks that differ", ...CLOCKS, "WINDOW=2", "END=5"),
  holds("waves, and a write that lands late", "LATE_WRITES=1", "WAVES", "WINDOW=1", "END=3"),
  holds(
    "waves and new pages, and a write that lands late",
    "LATE_WRITES=1",
    "WAVES",
    "NEW_PAGES",
    "WINDOW=1",
    "END=2",
  ),
  holds("three invocations, with waves", "SECOND_ROUNDS=2", "WAVES", "WINDOW=1", "END=2"),
  implied(
    "the epoch of an intent and of a release, by the write number",
    "LEFT_OUT_EPOCH_OF_INTEND LEFT_OUT_EPOCH_OF_RELEASE",
    "WINDOW=1",
    "END=1",
  ),
  implied(
    "that the workload moved, where its count is the intent's",
    "APPLIED_BY_COUNT",
    ...EDITS,
    "WINDOW=2",
    "END=3",
  ),
];
