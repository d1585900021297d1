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
    /** Virtual milliseconds per millisecond of wall time, until `untilMs`. */
    speed: z.number(),
    /** The instant of the next event, at which the clock stands still. */
    untilMs: z.number(),
  }),
  /** The folder of a run on a real cluster, whose time is the machine's. */
  z.object({ kind: z.literal("real"), nowMs: z.number() }),
]);

/** The folder's clock as its last run left it on disk. */
export type SavedClock = z.infer<typeof savedClockSchema>;

export const saveClock = (layout: FolderLayout, clock: SavedClock): void => writeWhole(layout.clock, JSON.stringify(clock));

export const readSavedClock = (layout: FolderLayout): SavedClock | undefined => readJsonIfThere(layout.clock, savedClockSchema);

/** The time of a living run, computed in another process: it advances at the speed of the run, and never past the next event. */
export const flowingNowMs = (clock: SavedClock, wallMs: number): number =>
  clock.kind === "real" ? wallMs : Math.min(clock.untilMs, Math.round(clock.nowMs + Math.max(0, wallMs - clock.wallMs) * clock.speed));

/** The time of a folder without a run. Virtual time stands still. */
export const restingNowMs = (clock: SavedClock, wallMs: number): number => (clock.kind === "real" ? wallMs : clock.nowMs);
