import type { Run } from "../run/open-run.ts";
import type { Terminal } from "../run/terminal.ts";
import { liveView } from "./live.ts";
import { plainView } from "./plain-view.ts";
import type { View } from "./view.ts";

/** The view that fits the terminal. */
export const viewOf = (
  terminal: Terminal,
  { reader, world, clock }: Pick<Run, "reader" | "world" | "clock">,
  shown: { readonly startMs: number; readonly endMs?: number; readonly dataOption: string },
): View =>
  terminal.live
    ? liveView({ stream: terminal.stream, reader, readings: world.readings, clock, ...shown })
    : plainView({ write: terminal.write, reader, clock, ...shown });
