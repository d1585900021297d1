import { ABSENCE_TTL_MS, DISCOVERY_TTL_MS } from "../request-limits.ts";
import { type OtherStacks, otherStacks } from "./other-stacks.ts";
import { type RivalMemory, rivalMemory } from "./rival-memory.ts";

/** What a warm client remembers of earlier observations: the size of lists, missing rights, and the rivals of the last LIST. */
export interface Memory {
  /** Number of objects in the last LIST of this path. */
  readonly listedBefore: (path: string) => number | undefined;
  readonly remember: (path: string, objects: number) => void;
  readonly listIsForbidden: (path: string) => boolean;
  readonly forbid: (path: string) => void;
  readonly rivals: RivalMemory;
  readonly otherStacks: OtherStacks;
  /** For each API group, the version that was served last; "" where the group was not installed. */
  readonly rivalVersions: Map<string, string>;
  /** The version of metrics.k8s.io that is asked; undefined while it is not known. */
  metricsVersion: string | undefined;
  /** Reports a message once in the life of the client. */
  readonly once: (message: string) => void;
}

export const newMemory = (clock: () => number, notice: (message: string) => void): Memory => {
  const sizes = new Map<string, { readonly objects: number; readonly untilMs: number }>();
  const forbidden = new Map<string, number>();
  const reported = new Set<string>();
  return {
    listedBefore: (path) => {
      const known = sizes.get(path);
      return known && clock() < known.untilMs ? known.objects : undefined;
    },
    remember: (path, objects) => {
      sizes.set(path, { objects, untilMs: clock() + DISCOVERY_TTL_MS });
    },
    listIsForbidden: (path) => clock() < (forbidden.get(path) ?? 0),
    forbid: (path) => {
      forbidden.set(path, clock() + ABSENCE_TTL_MS);
    },
    rivals: rivalMemory(clock),
    otherStacks: otherStacks(clock),
    rivalVersions: new Map(),
    metricsVersion: undefined,
    once: (message) => {
      if (reported.has(message)) return;
      reported.add(message);
      notice(message);
    },
  };
};
