import { parentPort, workerData } from "node:worker_threads";
import { buildIn } from "./beside/build.ts";
import { playSeed } from "./seed.ts";
import { playWeeks } from "./weeks/play.ts";

/**
 * Plays the seeds that it is given, one after the other, and tells how each ended: with its story
 * when it failed.
 */
const port = parentPort;
if (!port) throw new TypeError("this file runs in a worker thread");

/** The folder of an older build, where seeds are played beside one. */
const { besideFolder, weeks } = (workerData ?? {}) as {
  readonly besideFolder?: string;
  /** The seeds are of weeks. */
  readonly weeks?: boolean;
};
const options = besideFolder === undefined ? {} : { beside: await buildIn(besideFolder) };

const playOne = async (seed: number, told: boolean) => {
  if (!weeks) return playSeed(seed, { ...options, told });
  const { violation, story } = await playWeeks(seed, { told });
  return { seed, violation, story, coverage: {} };
};

port.on("message", (seed: number) => {
  playOne(seed, false)
    .then(async (outcome) =>
      port.postMessage(outcome.violation ? await playOne(seed, true) : outcome),
    )
    .catch((error: unknown) => {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      port.postMessage({
        seed,
        violation: { invariant: "nothing breaks", message },
        story: [],
        coverage: {},
      });
    });
});
