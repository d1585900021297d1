import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import { ENGINES, startDynalite } from "../contracts/engines.ts";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { appsOf, fillCluster } from "../control-plane/fill.ts";
import { startMetricsAdapter } from "../control-plane/metrics-adapter.ts";
import { startControlPlane } from "../control-plane/start.ts";
import { CPU } from "./burst-subject.ts";
import type { SteadySample, SteadyStage } from "./steady-player.ts";

/**
 * The CPU of a steady minute: syncs of a cluster in which nothing changes, on a clock of their own
 * that goes on by one period from sync to sync, as in production. `STEADY_AGAINST=FOLDER` plays
 * another checkout of this project turn by turn, because times of two runs on a machine with other
 * work cannot be compared. Each checkout, a real API server and the tables are processes of their
 * own.
 */
const AUTOSCALERS = Number(process.env["STEADY_AUTOSCALERS"] ?? 1_000);
const MINUTES = Number(process.env["STEADY_MINUTES"] ?? 20);
const WARM_MINUTES = Number(process.env["STEADY_WARM"] ?? 8);
const PERIOD_MS = Number(process.env["STEADY_PERIOD_MS"] ?? 15_000);
const SYNCS_A_MINUTE = 60_000 / PERIOD_MS;

type Sample = SteadySample;

interface Player {
  readonly name: string;
  readonly samples: Sample[];
  readonly sync: (dueMs: number) => Promise<Sample>;
  readonly close: () => void;
}

const quantile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * share)] ?? Number.NaN;
const median = (numbers: readonly number[]): number => quantile(numbers, 0.5);

export const run = async (): Promise<void> => {
  const binaries = controlPlaneBinaries();
  if (binaries.kind === "missing") {
    process.stdout.write(`Not measured: ${binaries.message}\n`);
    process.exitCode = 1;
    return;
  }
  const dir = mkdtempSync(join(tmpdir(), "tidemark-steady-"));
  const fast = ENGINES.find(({ name, missing }) => name === "dynoxide" && missing === undefined);
  const [plane, engine] = [
    await startControlPlane(binaries.folder),
    await (fast ? fast.start() : startDynalite()),
  ];
  const apps = appsOf(AUTOSCALERS);
  await fillCluster(plane, apps);
  const adapter = await startMetricsAdapter(plane, apps, dir);
  adapter.cpuMilli = CPU.calm;
  const players: Player[] = [];
  try {
    const { url, ca, token } = plane;
    const stage = {
      plane: { url, ca, token },
      endpoint: engine.endpoint ?? "",
      tables: engine.tables,
      apps,
    };
    for (const [name, folder] of Object.entries(checkouts()))
      players.push(await startPlayer({ ...stage, name, folder }));
    await play(players, (dueMs) => {
      adapter.aheadMs = dueMs - Date.now();
    });
    print(players);
  } finally {
    for (const player of players) player.close();
    await adapter.close();
    await plane.close();
    await engine.close();
    rmSync(dir, { recursive: true, force: true });
  }
};

/** The other checkout is played twice: how far it is from itself is the error of a comparison. */
const checkouts = (): Readonly<Record<string, string>> => {
  const other = process.env["STEADY_AGAINST"];
  return {
    ...(other !== undefined && { other, again: other }),
    this: join(import.meta.dirname, "../.."),
  };
};

/** Each checkout has a process of its own: two in one process share compiled code and garbage. */
const startPlayer = async (stage: SteadyStage): Promise<Player> => {
  const child = fork(join(import.meta.dirname, "steady-player.ts"), { serialization: "advanced" });
  const ask = async (message: SteadyStage | number): Promise<unknown> => {
    const answer = Promise.race([
      once(child, "message"),
      once(child, "exit").then(([code]) =>
        Promise.reject(new Error(`${stage.name} ended with ${code}`)),
      ),
    ]);
    child.send(message);
    const [value]: readonly unknown[] = await answer;
    return value;
  };
  await ask(stage);
  return {
    name: stage.name,
    samples: [],
    sync: async (dueMs) => (await ask(dueMs)) as Sample,
    close: () => child.disconnect(),
  };
};

/** Turn by turn, and each goes first as often as the others. */
const play = async (players: readonly Player[], isDue: (dueMs: number) => void): Promise<void> => {
  const startMs = Date.now();
  for (let at = 0; at < (WARM_MINUTES + MINUTES) * SYNCS_A_MINUTE; at++) {
    const first = at % players.length;
    isDue(startMs + at * PERIOD_MS);
    for (const { sync, samples } of [...players.slice(first), ...players.slice(0, first)]) {
      const sample = await sync(startMs + at * PERIOD_MS);
      if (at >= WARM_MINUTES * SYNCS_A_MINUTE) samples.push(sample);
    }
  }
};

const KINDS = {
  "within a minute": (pages: number) => pages === 0,
  "first of a minute": (pages: number) => pages > 0,
} as const;

const print = (players: readonly Player[]): void => {
  const table = new Table({
    head: ["checkout", "sync", "number", "CPU ms", "calls", "KB read"],
    style: { head: [], border: [] },
  });
  for (const { name, samples } of players) {
    for (const [kind, isOfKind] of Object.entries(KINDS)) {
      const rows = samples.filter(({ pages }) => isOfKind(pages));
      table.push([
        name,
        kind,
        String(rows.length),
        median(rows.map(({ userMs }) => userMs)).toFixed(1),
        String(median(rows.map(({ calls }) => calls))),
        (median(rows.map(({ bytes }) => bytes)) / 1_000).toFixed(0),
      ]);
    }
  }
  process.stdout.write(
    `${table.toString()}\nMedians of ${MINUTES} minutes, ${AUTOSCALERS} autoscalers with one CPU metric\n`,
  );
  const [other, again, here] = players;
  if (!other || !again || !here) return;
  process.stdout.write(
    `This checkout beside the other: ${ratios(other, here)}, beside the other again: ${ratios(again, here)}\n`,
  );
  process.stdout.write(`The error: the other beside itself: ${ratios(other, again)}\n`);
};

const ratios = (before: Player, after: Player): string => {
  const byKind = Object.entries(KINDS).map(
    ([kind, isOfKind]) => `${kind} ${ratioOf(before, after, isOfKind)}`,
  );
  return `${[...byKind, `whole minutes ${(cpuOf(after) / cpuOf(before)).toFixed(3)}`].join(", ")}`;
};

/** The CPU of all syncs, with the garbage that they leave. */
const cpuOf = ({ samples }: Player): number => samples.reduce((sum, { userMs }) => sum + userMs, 0);

/** By the lower quartiles: other work on the machine only adds. */
const ratioOf = (before: Player, after: Player, isOfKind: (pages: number) => boolean): string => {
  const [earlier, later] = [before, after].map(({ samples }) =>
    quantile(
      samples.filter(({ pages }) => isOfKind(pages)).map(({ userMs }) => userMs),
      0.25,
    ),
  );
  return ((later ?? Number.NaN) / (earlier ?? Number.NaN)).toFixed(3);
};
