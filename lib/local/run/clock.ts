import { type RunClock, realClock, virtualClock } from "../engine/clock.ts";
import type { FolderIdentity } from "../folder/identity.ts";
import type { FolderLayout } from "../folder/layout.ts";
import { readSavedClock, type SavedClock, saveClock } from "../folder/saved-clock.ts";

/** The clock of a run, which continues at the time of the folder. It is saved from `beginSaving` on, because a start that is refused before that must not change the folder. */
export const runClock = (
  layout: FolderLayout,
  identity: FolderIdentity,
  speed: number,
): { readonly clock: RunClock; readonly beginSaving: () => void } => {
  let last: SavedClock | undefined;
  let saving = false;
  const save = (state: SavedClock) => {
    last = state;
    if (saving) saveClock(layout, state);
  };
  const clock =
    identity.kind === "kubeconfig" ? realClock() : virtualClock({ startMs: readSavedClock(layout)?.nowMs ?? identity.startMs, speed, save });
  return {
    clock,
    beginSaving: () => {
      saving = true;
      saveClock(layout, last ?? { kind: "real", nowMs: clock.now() });
    },
  };
};
