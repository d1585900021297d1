import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { type NightlyOptions, PARTS, ROOT } from "./parts.ts";

/**
 * `npm run nightly [-- --seeds 5000] [--first-seed K] [--answers 1000000] [--properties 20]
 * [--minutes 60] [--only simulation,chaos]`: what is too long for each change. It runs damaged
 * protobuf answers, the properties many times as often, the simulation with seeds that no night
 * before had, some of them beside an earlier build, chaos on a real API server, and the mutation
 * test, one after the other. The last lines say what each did; exit code 1 unless all ran and
 * passed.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "5000" },
    "first-seed": { type: "string", default: String(Math.floor(Date.now() / 1_000)) },
    answers: { type: "string", default: "1000000" },
    properties: { type: "string", default: "20" },
    minutes: { type: "string", default: "60" },
    only: { type: "string", default: Object.keys(PARTS).join(",") },
  },
});

const numberOf = (name: "seeds" | "first-seed" | "answers" | "properties" | "minutes"): number => {
  const number = Number(values[name]);
  if (!(Number.isFinite(number) && number > 0))
    throw new RangeError(`Cannot run: --${name} must be a number above 0, not "${values[name]}"`);
  return number;
};

const runPart = async (
  name: string,
  options: NightlyOptions,
): Promise<{ readonly passed: boolean; readonly line: string }> => {
  const part = PARTS[name]?.(options) ?? { missing: "there is no such part" };
  if ("missing" in part) return { passed: false, line: `${name}: not run: ${part.missing}` };
  const { env = {} } = part;
  const variables = Object.entries(env).map(([variable, value]) => `${variable}=${value}`);
  const command = [
    ...variables,
    part.command === process.execPath ? "node" : part.command,
    ...part.args,
  ].join(" ");
  process.stdout.write(`== ${name}: ${command}\n`);
  const startedMs = performance.now();
  const [code] = (await once(
    spawn(part.command, part.args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ["ignore", "inherit", "inherit"],
    }),
    "close",
  )) as [number | null];
  const took = `${((performance.now() - startedMs) / 1_000).toFixed(0)} s`;
  return {
    passed: code === 0,
    line: `${name}: ${code === 0 ? "passed" : "FAILED"} in ${took}: ${command}`,
  };
};

const main = async (): Promise<void> => {
  const options = {
    ...{
      seeds: numberOf("seeds"),
      firstSeed: numberOf("first-seed"),
      answers: numberOf("answers"),
    },
    ...{ properties: numberOf("properties"), minutes: numberOf("minutes") },
  };
  const names = values.only.split(",");
  const unknown = names.find((name) => !(name in PARTS));
  if (unknown !== undefined)
    throw new RangeError(
      `Cannot run part "${unknown}": there are ${Object.keys(PARTS).join(", ")}`,
    );
  const done = [];
  for (const name of names) done.push(await runPart(name, options));
  process.stdout.write(`\n${done.map(({ line }) => `${line}\n`).join("")}`);
  process.exitCode = done.every(({ passed }) => passed) ? 0 : 1;
};

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
