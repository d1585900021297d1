import { readMutated } from "./mutate.ts";

/**
 * `node test/cluster/wire/fuzz.ts [runs] [first seed]`: damaged protobuf answers, a million by
 * default. Ends with an error at the first that throws.
 */
const [runs = 1_000_000, first = 1] = process.argv.slice(2).map(Number);
let [broken, slowestMs] = [0, 0];
for (let seed = first; seed < first + runs; seed++) {
  const { decoded, ms } = await readMutated(seed).catch((error: unknown) => {
    throw new Error(`seed ${seed} throws`, { cause: error });
  });
  if (decoded.kind === "broken") broken++;
  slowestMs = Math.max(slowestMs, ms);
}
process.stdout.write(
  `${runs} damaged answers: ${broken} refused, ${runs - broken} read; the slowest took ${slowestMs.toFixed(1)} ms\n`,
);
