import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import fc from "fast-check";
import { NEW_WINDOWS } from "../../../../lib/rules/model/windows.ts";
import type { AppliedSync } from "../../../policy/applied-sync.ts";
import { compared } from "./differences.ts";
import { drawnOf, FAMILIES } from "./draw.ts";
import { type Recorded, readRecorded, writeRecorded } from "./recorded.ts";
import { atOf, type Drawn, hpaOf, hpaSync, isPaused, objectOf, type Target } from "./scene.ts";

/**
 * `node test/sources/keda/steps/record.ts PROGRAM [--objects N] [--seed N] [--family NAME] [--store]`:
 * plays so many drawn ScaledObjects of each family through KEDA (build.sh) and the HPA, compares
 * the PodAutoscaler that `convert` makes of each, and prints what differs. `--store` writes the
 * families that were played into the recorded file.
 */
const {
  values: { objects, seed, family: only, store: isStored },
  positionals: [program = ""],
} = parseArgs({
  allowPositionals: true,
  options: {
    objects: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    family: { type: "string" },
    store: { type: "boolean", default: false },
  },
});
const SHOWN = 6;

interface Given {
  readonly replicas: number;
  readonly metrics?: readonly (number | null)[];
  readonly targets?: readonly Target[];
  readonly error?: string;
}

const child = spawn(program, [], { stdio: ["pipe", "pipe", "ignore"] });
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
const asked = async (request: object): Promise<Given> => {
  child.stdin.write(`${JSON.stringify(request)}\n`);
  const { value } = await lines.next();
  const given: Given = JSON.parse(String(value));
  if (given.error !== undefined) throw new Error(`${given.error}: ${JSON.stringify(request)}`);
  return given;
};

/**
 * The count after each step: a sync of the HPA, then a round of the scale loop. An HPA is off where
 * its target has no pods, and KEDA deletes the HPA of an object that is paused.
 */
const kedaCounts = async (drawn: Drawn): Promise<readonly number[]> => {
  const { replicas, values } = drawn;
  const object = objectOf(drawn);
  const { targets = [] } = await asked({ object, replicas, nowMs: atOf(drawn, 0) });
  const hpa = hpaOf(drawn, targets);
  let state: Pick<AppliedSync, "count" | "windows"> = { count: replicas, windows: NEW_WINDOWS };
  const counts: number[] = [];
  for (const [step, of] of values.entries()) {
    const nowMs = atOf(drawn, step);
    if (state.count > 0 && !isPaused(drawn)) {
      const { metrics = [] } = await asked({ nowMs, replicas: state.count, values: of });
      state = hpaSync(hpa, metrics, { replicas: state.count, nowMs, windows: state.windows });
    }
    const polled = await asked({ poll: true, nowMs, replicas: state.count, values: of });
    state = { ...state, count: polled.replicas };
    counts.push(state.count);
  }
  return counts;
};

const stored: Recorded[] = [];
for (const family of FAMILIES.filter((of) => only === undefined || of === only)) {
  const all = fc.sample(drawnOf(family), { numRuns: Number(objects), seed: Number(seed) });
  let same = 0;
  const shown: string[] = [];
  for (const [at, drawn] of all.entries()) {
    const recorded = { family, ...drawn, keda: await kedaCounts(drawn) };
    stored.push(recorded);
    const { isSame, named, first, own } = compared(recorded);
    if (isSame) same++;
    else if (shown.length < SHOWN || named.length === 0) {
      const around = (counts: readonly number[]) => counts.slice(Math.max(0, first - 1), first + 4);
      const { values, spec, annotations } = drawn;
      shown.push(
        [
          `  ${at}: ${named.join(", ") || "NO NOTE"}: from step ${first} on KEDA ${around(recorded.keda).join(" ")}, own ${around(own).join(" ")}`,
          JSON.stringify({
            spec,
            annotations,
            values: values.slice(Math.max(0, first - 2), first + 2),
          }),
        ].join("; "),
      );
    }
  }
  process.stdout.write(`${family}: ${same} of ${all.length} the same\n${shown.join("\n")}\n`);
}
child.stdin.end();
if (isStored) {
  const others = readRecorded().filter(({ family }) => only !== undefined && family !== only);
  const all = [...others, ...stored];
  writeRecorded(FAMILIES.flatMap((family) => all.filter((one) => one.family === family)));
}
