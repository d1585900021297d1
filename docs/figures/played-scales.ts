import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openDataFolder } from "../../lib/command/session.ts";
import { readIdentity } from "../../lib/embedded/folder/identity.ts";
import { folderLayout } from "../../lib/embedded/layout.ts";

/** A scale that took effect, in milliseconds since the run began. */
export interface PlayedScale {
  readonly afterMs: number;
  readonly from: number;
  readonly to: number;
}

/** The scales of a run by the name of their autoscaler, each list in order of time. */
export type PlayedScales = Readonly<Record<string, readonly PlayedScale[]>>;

/** A played run of the demonstration, as the pictures of the docs show it. */
export interface PlayedRun {
  readonly scales: PlayedScales;
  /** What `tidemark timeline steps -o svg` draws of its first minutes. */
  readonly timeline: string;
}

const START = join(import.meta.dirname, "../../lib/embedded/start.ts");
const TIDEMARK = join(import.meta.dirname, "../../bin/tidemark.js");
/** The speed changes nothing but the wait (docs/embedded-run.md): as fast as the machine can. */
const OPTIONS = ["--speed", "1000000"];
const SEED = ["--seed", "1"];

/** How much of the run its timeline shows. */
const TIMELINE_MS = 108 * 60_000;

/**
 * Plays so many virtual minutes of the demonstration with `npm start`, in a folder of its own, and
 * returns what it stored. The same code gives the same scales and timeline.
 */
export const playedRun = (minutes: number): Promise<PlayedRun> =>
  inPlayedFolder(["--for", `${minutes}m`], async (data) => {
    const about = readIdentity(folderLayout(data));
    if (about === undefined || about === "beginning")
      throw new Error("Cannot draw a run: its folder does not say when it began");
    return {
      scales: await storedScales(data, about.startMs),
      timeline: await drawnTimeline(data, about.startMs),
    };
  });

/** Plays a run with these further options in a folder of its own, which is gone afterwards. */
export const inPlayedFolder = async <Found>(
  options: readonly string[],
  use: (data: string) => Promise<Found>,
): Promise<Found> => {
  const data = mkdtempSync(join(tmpdir(), "tidemark-picture-"));
  try {
    await play(data, options);
    return await use(data);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
};

const play = async (data: string, options: readonly string[]): Promise<void> => {
  const seeded = options.includes("--seed") ? options : [...SEED, ...options];
  const child = spawn(process.execPath, [START, ...OPTIONS, ...seeded, "--data", data], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code, signal] = await once(child, "exit");
  if (code !== 0) throw new Error(`Cannot draw a run: it ended with ${code ?? signal}`);
};

const drawnTimeline = async (data: string, startMs: number): Promise<string> => {
  const [since, until] = [startMs, startMs + TIMELINE_MS].map((ms) => new Date(ms).toISOString());
  const words = [
    "timeline",
    "steps",
    "--since",
    since ?? "",
    "--until",
    until ?? "",
    "--utc",
    "-o",
    "svg",
    "--data",
    data,
  ];
  return (await promisify(execFile)(process.execPath, [TIDEMARK, ...words])).stdout;
};

const storedScales = async (data: string, startMs: number): Promise<PlayedScales> => {
  const session = await openDataFolder(data, "picture");
  try {
    const scales: Record<string, PlayedScale[]> = {};
    for await (const { name, at, from, to, outcome } of session.service.events({})) {
      if (outcome === "refused") continue;
      scales[name] ??= [];
      scales[name].push({ afterMs: Date.parse(at) - startMs, from, to });
    }
    return scales;
  } finally {
    await session.close();
  }
};
