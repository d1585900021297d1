import { type CallKind, FAULTS, type Fate, type Fault, type Stall } from "./fates.ts";
import type { Invocation } from "./invocation.ts";

/** One call, as far as its place in a sync is told by it. */
export interface PlacedCall {
  readonly kind: CallKind;
  readonly name: string;
  /** The sync that makes it; absent for people and the scheduler. */
  readonly by?: Invocation | undefined;
}

/** How often each fault met each call in each phase: by `phase | call | fault`. */
export type Coverage = Readonly<Record<string, number>>;

export interface CoverageCount {
  readonly note: (call: PlacedCall, fate: Fate) => void;
  readonly counts: Coverage;
}

/** The phase that a call begins. Any other call belongs to the phase that is under way. */
const BEGINS: Readonly<Record<string, string>> = {
  claim: "claim",
  "read fleet": "load",
  "read cluster": "load",
  "list objects": "specs",
  observe: "observe",
  "GET a watched scale": "observe",
  "GET a metric": "observe",
  "LIST workloads": "observe",
  "LIST pods": "observe",
  "LIST pod metrics": "observe",
  "LIST other controllers": "observe",
  "LIST objects": "specs",
  "PATCH a status": "tell",
  "POST an event": "tell",
  "PATCH an event": "tell",
  "store intents": "intend",
  put: "act",
  "write a page": "pages",
  "insert journal": "journal",
  release: "release",
  "give back": "give back",
  "tell objects": "tell",
};

const phaseAfter = (phase: string, call: string): string => {
  if (call === "insert history" && phase === "observe") return "settle";
  // Events of a wave are inserted while its PUTs go on; a sync without PUTs has stored intents that
  // time did not suffice for.
  if (call === "insert history" && phase === "intend") return "act";
  // A PUT may need a connection and the path of its kind first.
  if ((call === "connect" || call === "discover") && phase === "intend") return "act";
  return BEGINS[call] ?? phase;
};

const stallName = (stall: Stall, when: string): string =>
  stall.kind === "brink" ? `${when}: stands still to the brink` : `${when}: ${STALLS[stall.kind]}`;
const STALLS = { none: "", crash: "crash", pause: "stands still" } as const;

const faultsOf = ({ fault, before, after, skewMs, slow }: Fate): readonly string[] => [
  fault,
  ...(before.kind === "none" ? [] : [stallName(before, "before")]),
  ...(after.kind === "none" ? [] : [stallName(after, "after")]),
  ...(skewMs === undefined ? [] : ["clock steps"]),
  ...(slow ? [slow.endMs === undefined ? "late" : "late, and its process is killed"] : []),
];

export const countCoverage = (): CoverageCount => {
  const counts: Record<string, number> = {};
  const phases = new WeakMap<Invocation, string>();
  return {
    counts,
    note: ({ name, by }, fate) => {
      const phase = by ? phaseAfter(phases.get(by) ?? "claim", name) : "edit";
      if (by) phases.set(by, phase);
      for (const fault of faultsOf(fate)) {
        const key = `${phase} | ${name} | ${fault}`;
        counts[key] = (counts[key] ?? 0) + 1;
      }
    },
  };
};

const STALLED = [
  "before: crash",
  "before: stands still",
  "before: stands still to the brink",
  "after: crash",
  "after: stands still",
  "after: stands still to the brink",
];

const KINDS: Readonly<Record<string, CallKind>> = {
  "ask a source": "recommend",
  connect: "connect",
  "read scale": "read",
  discover: "read",
  "list objects": "specs",
  "tell objects": "tell",
};

const kindOf = (call: string): CallKind => {
  if (call === "observe" || call === "recommend" || call === "put" || call === "queue") return call;
  const own = KINDS[call];
  if (own !== undefined) return own;
  if (call.startsWith("LIST ") || call === "GET a metric" || call === "GET a watched scale")
    return "list";
  if (call.startsWith("PATCH ") || call.startsWith("POST ")) return "update";
  return call === "write a page" ? "page" : "table";
};

/** Every fault that may meet a call. Only the clocks of syncs step. */
const possible = (phase: string, call: string): readonly (Fault | string)[] => [
  ...new Set(FAULTS[kindOf(call)]),
  ...STALLED,
  ...(phase === "edit" ? [] : ["clock steps"]),
];

export interface CoverageRow {
  readonly phase: string;
  readonly call: string;
  readonly calls: number;
  readonly reached: number;
  readonly missed: readonly string[];
}

const plus = (one: Coverage, other: Coverage): Coverage => {
  const sum: Record<string, number> = { ...one };
  for (const [key, count] of Object.entries(other)) sum[key] = (sum[key] ?? 0) + count;
  return sum;
};

export const joinedCoverage = (all: readonly Coverage[]): Coverage => all.reduce(plus, {});

/**
 * One row for each call in each phase that was seen: how many of the faults that may meet it did,
 * and which did not.
 */
export const coverageRows = (coverage: Coverage): readonly CoverageRow[] => {
  const places = new Map<
    string,
    { phase: string; call: string; calls: number; seen: Set<string> }
  >();
  for (const [key, count] of Object.entries(coverage)) {
    const [phase = "", call = "", fault = ""] = key.split(" | ");
    const place = places.get(`${phase} | ${call}`) ?? { phase, call, calls: 0, seen: new Set() };
    places.set(`${phase} | ${call}`, place);
    place.seen.add(fault);
    // Each call has one fault, "none" among them; stalls and steps come beside it.
    if (!fault.includes(":") && fault !== "clock steps") place.calls += count;
  }
  return [...places.values()]
    .map(({ phase, call, calls, seen }): CoverageRow => {
      const all = possible(phase, call);
      return {
        phase,
        call,
        calls,
        reached: all.filter((fault) => seen.has(fault)).length,
        missed: all.filter((fault) => !seen.has(fault)),
      };
    })
    .toSorted(
      (one, other) =>
        ORDER.indexOf(one.phase) - ORDER.indexOf(other.phase) || one.call.localeCompare(other.call),
    );
};

const ORDER = [
  "claim",
  "load",
  "specs",
  "observe",
  "settle",
  "intend",
  "act",
  "pages",
  "journal",
  "release",
  "tell",
  "give back",
  "edit",
];

/** For people: a line for each call, then what no seed reached. */
export const coverageText = (coverage: Coverage): string => {
  const rows = coverageRows(coverage);
  const lines = rows.map(({ phase, call, calls, reached, missed }) => {
    const all = reached + missed.length;
    return `${phase.padEnd(10)} ${call.padEnd(26)} ${String(calls).padStart(9)} calls  ${String(reached).padStart(2)} of ${all} faults${missed.length > 0 ? `; never: ${missed.join(", ")}` : ""}`;
  });
  const [reached, all] = rows.reduce(
    ([sum, total], row) => [sum + row.reached, total + row.reached + row.missed.length],
    [0, 0],
  );
  return [...lines, `${reached} of ${all} faults of ${rows.length} calls were met`].join("\n");
};
