import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import fc from "fast-check";
import { NEW_WINDOWS } from "../../../../lib/rules/model/windows.ts";
import type { AppliedSync } from "../../../policy/applied-sync.ts";
import { drawnOf, FAMILIES, type Family } from "./draw.ts";
import {
  BEGIN,
  type Drawn,
  hpaOf,
  hpaSync,
  nativeOf,
  objectOf,
  ownCounts,
  STEP_MS,
  type Target,
} from "./scene.ts";

/**
 * `node test/sources/keda/steps/record.ts PROGRAM OBJECTS [SEED] [--store]`: plays so many drawn
 * ScaledObjects of each family through KEDA (build.sh) and the HPA, compares the PodAutoscaler that
 * `convert` makes of each, and prints what differs. `--store` writes recorded.json.
 */
const [program = "", objects = "20", seed = "1"] = process.argv.slice(2);
const isStored = process.argv.includes("--store");

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

/** The count after each step: a round of the scale loop, then a sync of the HPA. */
const kedaCounts = async (drawn: Drawn): Promise<readonly number[]> => {
  const { replicas, values } = drawn;
  const object = objectOf(drawn);
  const { targets = [] } = await asked({ object, replicas, nowMs: BEGIN });
  const hpa = hpaOf(drawn, targets);
  let state: Pick<AppliedSync, "count" | "windows"> = { count: replicas, windows: NEW_WINDOWS };
  const counts: number[] = [];
  for (const [step, of] of values.entries()) {
    const nowMs = BEGIN + step * STEP_MS;
    const polled = await asked({ poll: true, nowMs, replicas: state.count, values: of });
    const { metrics = [] } = await asked({ nowMs, replicas: polled.replicas, values: of });
    const seen = { replicas: polled.replicas, nowMs, windows: state.windows };
    // An HPA is off where its target has no pods.
    state = polled.replicas === 0 ? { ...state, count: 0 } : hpaSync(hpa, metrics, seen);
    counts.push(state.count);
  }
  return counts;
};

const stored: object[] = [];
for (const family of FAMILIES) {
  const all = fc.sample(drawnOf(family as Family), {
    numRuns: Number(objects),
    seed: Number(seed),
  });
  let same = 0;
  let refused = 0;
  const shown: string[] = [];
  for (const [at, drawn] of all.entries()) {
    const { spec, notes } = nativeOf(drawn);
    const keda = await kedaCounts(drawn);
    stored.push({ family, ...drawn, keda });
    if (spec === undefined) {
      refused++;
      shown.push(`${family} ${at}: refused ${notes.filter((n) => n.startsWith("lost")).join()}`);
      continue;
    }
    const own = ownCounts(spec, drawn);
    const first = own.findIndex((count, step) => count !== keda[step]);
    if (first < 0) same++;
    else
      shown.push(
        `${family} ${at}: step ${first}: KEDA ${keda.slice(Math.max(0, first - 1), first + 4).join(" ")}, own ${own.slice(Math.max(0, first - 1), first + 4).join(" ")}; values ${JSON.stringify(drawn.values.slice(Math.max(0, first - 2), first + 2))}; ${JSON.stringify(drawn.spec)} ${JSON.stringify(drawn.annotations ?? {})}; ${notes.filter((n) => !/serverAddress|ignoreNull/.test(n)).join(" | ")}`,
      );
  }
  process.stdout.write(`${family}: ${same} of ${all.length} the same, ${refused} refused\n`);
  for (const line of shown.slice(0, 6)) process.stdout.write(`  ${line}\n`);
}
child.stdin.end();
if (isStored)
  writeFileSync(
    join(import.meta.dirname, "recorded.json"),
    `[\n${stored.map((one) => JSON.stringify(one)).join(",\n")}\n]\n`,
  );
