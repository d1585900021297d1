import { type RunClock, realClock, virtualClock } from "../engine/clock.ts";
import type { About } from "../folder/identity.ts";
import type { FolderLayout } from "../folder/layout.ts";
import { readSavedClock, type SavedClock, saveClock } from "../folder/saved-clock.ts";

/** The clock of a run, which goes on where the folder's stopped. It is saved from `beginSaving` on: until then a start may still be refused, and must leave the folder as it was. */
export const runClock = (layout: FolderLayout, about: About, speed: number): { readonly clock: RunClock; readonly beginSaving: () => void } => {
  let last: SavedClock | undefined;
  let saving = false;
  const save = (state: SavedClock) => {
    last = state;
    if (saving) saveClock(layout, state);
  };
  const clock = about.kind === "kubeconfig" ? realClock() : virtualClock({ startMs: readSavedClock(layout)?.nowMs ?? about.startMs, speed, save });
  return {
    clock,
    beginSaving: () => {
      saving = true;
      saveClock(layout, last ?? { kind: "real", nowMs: clock.now() });
    },
  };
};
