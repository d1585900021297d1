import type { Queues } from "../../lib/embedded/queue/sqs-server.ts";
import { alarmsIn, called, eventOfMessage, type StackOf } from "./alarm-stack.ts";
import type { Sample } from "./lambda/emitted.ts";
import { fires } from "./lambda/fires.ts";
import type { Environment } from "./lambda/runtime-api.ts";

const MINUTE_MS = 60_000;
/** Syncs start at most this late. */
const STEP_MS = 10_000;

/** What minutes of a fleet are played on. */
export interface Stage {
  readonly queues: Queues;
  /** Clusters whose messages are lost. */
  readonly unserved: ReadonlySet<string>;
  readonly clock: () => number;
  /** Moves the clocks of functions, tables, queue and clusters ahead. */
  readonly move: (byMs: number) => void;
  readonly stack: () => StackOf;
  readonly schedule: () => Environment;
  /** Each takes one message at a time; a cluster always has the same one, which knows it. */
  readonly syncs: () => readonly Environment[];
}

/** The minutes that were played. */
export interface Past {
  /** The samples of each minute. */
  readonly received: (readonly Sample[])[];
  /** The alarms that are on. */
  readonly on: Set<string>;
}

export const noMinutes = (): Past => ({ received: [], on: new Set() });

const NEW = /New problems: ([^"]*)/g;

/** What is due is synced, and its message is gone. */
const serveDue = async ({ queues, unserved, syncs }: Stage): Promise<readonly Sample[]> => {
  const environments = syncs();
  const due = queues.sync.receive(1_000).map(({ body, inFlight }) => {
    const { cluster }: { readonly cluster: string } = JSON.parse(body);
    return { body, cluster, receipt: inFlight?.receipt ?? "" };
  });
  const served = environments.map(async (environment, at) => {
    const samples: Sample[] = [];
    for (const { body, cluster, receipt } of due) {
      if (placeOf(cluster, environments.length) !== at) continue;
      if (!unserved.has(cluster))
        samples.push(...(await called(environment, "SyncLambdaFunction", eventOfMessage(body))));
      queues.sync.remove(receipt);
    }
    return samples;
  });
  return (await Promise.all(served)).flat();
};

const placeOf = (cluster: string, places: number): number =>
  [...cluster].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % places;

/**
 * One minute of the clock: a call of the scheduler, the syncs that are due, and then every alarm.
 * Returns the alarms that begin, as "ALARM: what is new".
 */
export const playMinute = async (stage: Stage, past: Past): Promise<readonly string[]> => {
  const { clock, move } = stage;
  const planning = stage.schedule();
  const logged = planning.log().length;
  const minute = [
    ...(await called(planning, "ScheduleLambdaFunction", {
      scheduledTime: new Date(clock()).toISOString(),
    })),
  ];
  for (let passedMs = 0; passedMs < MINUTE_MS; ) {
    const startedMs = Date.now();
    minute.push(...(await serveDue(stage)));
    // The time that playing took is a part of the step, also where the machine is busy.
    const tookMs = Date.now() - startedMs;
    move(Math.max(0, STEP_MS - tookMs));
    passedMs += Math.max(STEP_MS, tookMs);
  }
  past.received.push(minute);
  const line = [...planning.log().slice(logged).matchAll(NEW)]
    .map(([, text = ""]) => text)
    .join(" ");
  const firing = alarmsIn(stage.stack()).flatMap(([alarm, properties]) =>
    fires(properties, past.received) ? [alarm] : [],
  );
  const begun = firing.filter((alarm) => !past.on.has(alarm));
  past.on.clear();
  for (const alarm of firing) past.on.add(alarm);
  return begun.map((alarm) => `${alarm}: ${line.replaceAll(/ since [^;,]*/g, "")}`);
};
