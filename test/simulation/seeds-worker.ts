import { parentPort, workerData } from "node:worker_threads";
import { buildIn } from "./beside/build.ts";
import { playSeed } from "./seed.ts";

/**
 * Plays the seeds that it is given, one after the other, and tells how each ended: with its story
 * when it failed.
 */
const port = parentPort;
if (!port) throw new TypeError("this file runs in a worker thread");

/** The folder of an older build, where seeds are played beside one. */
const { besideFolder } = (workerData ?? {}) as { readonly besideFolder?: string };
const options = besideFolder === undefined ? {} : { beside: await buildIn(besideFolder) };

port.on("message", (seed: number) => {
  playSeed(seed, { ...options, told: false })
    .then(async (outcome) =>
      port.postMessage(
        outcome.violation ? await playSeed(seed, { ...options, told: true }) : outcome,
      ),
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
