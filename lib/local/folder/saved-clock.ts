import * as z from "zod";
import type { FolderLayout } from "./layout.ts";
import { readJsonIfThere, writeWhole } from "./whole-file.ts";

const savedClockSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("virtual"),
    /** The folder's time when this was written, milliseconds since 1970. */
    nowMs: z.number(),
    /** Wall time of the same moment. */
    wallMs: z.number(),
    /** How many of the folder's milliseconds pass in one of the wall's, until `untilMs`. */
    speed: z.number(),
    /** Where the clock stands still and waits for what happens then. */
    untilMs: z.number(),
  }),
  /** The folder of a run on real clusters: its time is everybody's. */
  z.object({ kind: z.literal("real"), nowMs: z.number() }),
]);

/** The folder's clock as its last run left it on disk. */
export type SavedClock = z.infer<typeof savedClockSchema>;

export const saveClock = (layout: FolderLayout, clock: SavedClock): void => writeWhole(layout.clock, JSON.stringify(clock));

export const readSavedClock = (layout: FolderLayout): SavedClock | undefined => readJsonIfThere(layout.clock, savedClockSchema);

/** What the clock of a living run shows now, seen from another process: it flows at its speed, and never past the next thing that will happen. */
export const flowingNowMs = (clock: SavedClock, wallMs: number): number =>
  clock.kind === "real" ? wallMs : Math.min(clock.untilMs, Math.round(clock.nowMs + Math.max(0, wallMs - clock.wallMs) * clock.speed));

/** What the clock shows while nothing runs: virtual time stands still. */
export const restingNowMs = (clock: SavedClock, wallMs: number): number => (clock.kind === "real" ? wallMs : clock.nowMs);
