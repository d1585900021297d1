import { parseArgs } from "node:util";
import { PLANTED_TELLINGS, playTurns, type TurnCounts, TURN_DIALECTS } from "./turns-truth.ts";

/**
 * `npm run prove -- thresholds [--runs N] [--seed N] [--dialect NAME] [--plant MISTAKE]`: draws
 * evaluations of every dialect and looks whether each stated threshold is true. Ends with 1 at the
 * first that is not.
 */
const RUNS = 100_000;
const BATCH = 2_000;
const LINE_EVERY_MS = 5_000;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: String(RUNS) },
    seed: { type: "string" },
    dialect: { type: "string" },
    plant: { type: "string" },
  },
});

const wrong = (text: string): never => {
  process.stderr.write(`${text}\n`);
  process.exit(2);
};

const wanted = Number(values.runs);
if (!Number.isSafeInteger(wanted) || wanted < 1)
  wrong(`Cannot draw "${values.runs}" evaluations: --runs must be a whole number from 1 on`);
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
if (!Number.isSafeInteger(seed))
  wrong(`Cannot begin with the seed "${values.seed}": --seed must be a whole number`);
const dialects = TURN_DIALECTS.filter(
  (one) => values.dialect === undefined || one === values.dialect,
);
if (dialects.length === 0)
  wrong(`Cannot draw "${values.dialect}": the dialects are ${TURN_DIALECTS.join(", ")}`);
const { plant } = values;
if (plant !== undefined && !Object.hasOwn(PLANTED_TELLINGS, plant))
  wrong(`Cannot plant "${plant}": the mistakes are ${Object.keys(PLANTED_TELLINGS).join(", ")}`);
const telling = plant === undefined ? undefined : PLANTED_TELLINGS[plant];

const sumOf = (one: TurnCounts, other: TurnCounts): TurnCounts => ({
  drawn: one.drawn + other.drawn,
  measured: one.measured + other.measured,
  told: one.told + other.told,
});

print(
  `${wanted} evaluations of each of ${dialects.length} dialects, from the seed ${seed}${plant === undefined ? "" : `, with the planted mistake "${plant}"`}`,
);
for (const dialect of dialects) {
  const begunMs = performance.now();
  let saidMs = begunMs;
  let counts: TurnCounts = { drawn: 0, measured: 0, told: 0 };
  for (let from = 0; from < wanted; from += BATCH) {
    const numRuns = Math.min(BATCH, wanted - from);
    const { fault, ...played } = playTurns(dialect, { numRuns, seed: seed + from }, telling);
    counts = sumOf(counts, played);
    if (fault !== undefined) {
      print(`${dialect}: a threshold is not true\n${fault}`);
      process.exit(1);
    }
    if (performance.now() - saidMs > LINE_EVERY_MS) {
      saidMs = performance.now();
      print(`  ${dialect}: ${from + numRuns} of ${wanted}`);
    }
  }
  const seconds = ((performance.now() - begunMs) / 1_000).toFixed(0);
  print(
    `${dialect}: ${counts.drawn} drawn, ${counts.measured} with a value, ${counts.told} with a threshold, all true (${seconds} s)`,
  );
}
