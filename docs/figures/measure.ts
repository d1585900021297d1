import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { CloudWatchClient } from "@aws-sdk/client-cloudwatch";
import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { readStack } from "../../lib/answers/remote/find-stack.ts";
import { isTidemarkError } from "../../lib/rules/model/errors.ts";
import { present } from "../../lib/rules/model/json.ts";
import { type Clients, measureStack, type StackNames } from "./measured-stack.ts";
import {
  MEASUREMENT,
  type Measurement,
  measuredBillTable,
  measuredStartsTable,
  storedMeasurement,
} from "./measured-tables.ts";
import { withTable } from "./page-table.ts";

/**
 * `npm run measure -- --stack NAME`: reads what AWS measured of a deployed stack, beside what
 * `tidemark cost` says of it, and writes docs/measured.json and the tables of docs/cost.md and
 * docs/speed.md that nothing on this machine can measure. Without `--stack` it writes the tables
 * from docs/measured.json.
 */
const USAGE =
  "npm run measure -- --stack NAME [--region REGION] [--profile PROFILE] [--hours 24] [--print]";
const RIGHTS =
  "cloudwatch:GetMetricData, logs:FilterLogEvents, lambda:GetFunctionConfiguration, and the rights of tidemark cost";
const DOCS = join(import.meta.dirname, "..");
const HOUR_MS = 3_600_000;
/** CloudWatch keeps the values of an hour for 455 days, and logs are kept for 14 by default. */
const HOURS_MAX = 336;

interface Wanted {
  readonly stack: string;
  readonly region?: string;
  readonly profile?: string;
  readonly hours: number;
}

const hoursOf = (text: string): number => {
  const hours = Number(text);
  if (Number.isInteger(hours) && hours >= 1 && hours <= HOURS_MAX) return hours;
  throw new RangeError(
    `Cannot read --hours "${text}": give a whole number from 1 to ${HOURS_MAX}, which is how long logs are kept`,
  );
};

/** The names of what the template makes, from the outputs of the stack. */
const namesOf = async ({ stack, region, profile }: Wanted): Promise<StackNames> => {
  const { region: found, outputs } = await readStack({
    name: stack,
    ...present({ region, profile }),
  });
  const output = (name: string): string => {
    const value = outputs[name];
    if (value === undefined)
      throw new RangeError(
        `Cannot measure "${stack}": it has no output "${name}"; it is no stack of Tidemark, or its deployment did not end`,
      );
    return value;
  };
  return {
    region: found,
    functionOf: (name) => `${stack}-${name}`,
    tables: [output("StateTableName"), output("HistoryTableName")],
    queue: output("SyncQueueUrl").split("/").at(-1) ?? "",
  };
};

/** What the command says of the stack, as a person would ask it. */
const saidOf = async ({ stack, region, profile }: Wanted): Promise<Measurement["said"]> => {
  const options = Object.entries(present({ region, profile })).flatMap(([name, value]) => [
    `--${name}`,
    value,
  ]);
  const args = [join(DOCS, "../bin/tidemark.js"), "cost", "--stack", stack, ...options];
  const { stdout } = await promisify(execFile)(process.execPath, [...args, "-o", "json"]).catch(
    (cause: Error & { readonly stderr?: string }) => {
      throw new RangeError(
        `Cannot measure "${stack}": tidemark cost does not answer: ${cause.stderr?.trim() || cause.message}`,
        { cause },
      );
    },
  );
  const { fleet, parts } = JSON.parse(stdout);
  return { fleet, parts };
};

const measured = async (wanted: Wanted): Promise<Measurement> => {
  const names = await namesOf(wanted);
  const options = { region: names.region, ...present({ profile: wanted.profile }) };
  const clients: Clients = {
    metrics: new CloudWatchClient(options),
    logs: new CloudWatchLogsClient(options),
    lambda: new LambdaClient(options),
  };
  try {
    // Metrics of the last minutes are not there yet.
    const untilMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    const span = { sinceMs: untilMs - wanted.hours * HOUR_MS, untilMs };
    const stack = await measureStack(clients, span, names).catch((cause: Error) => {
      throw new RangeError(
        `Cannot measure "${wanted.stack}": AWS answered ${cause.name} (${cause.message}); these rights are needed: ${RIGHTS}`,
        { cause },
      );
    });
    if ((stack.functions.sync?.calls ?? 0) === 0)
      throw new RangeError(
        `Cannot measure "${wanted.stack}": CloudWatch has no call of its function sync from ${stack.since} to ${stack.until}; let it run for an hour at least`,
      );
    return { stack, said: await saidOf(wanted) };
  } finally {
    for (const client of Object.values(clients)) client.destroy();
  }
};

const write = (measurement: Measurement | undefined): void => {
  const tables = [
    ["cost.md", "measured", measuredBillTable(measurement)],
    ["speed.md", "measured starts", measuredStartsTable(measurement)],
  ] as const;
  for (const [page, name, table] of tables) {
    const path = join(DOCS, page);
    writeFileSync(path, withTable(readFileSync(path, "utf8"), name, table));
    process.stdout.write(`docs/${page} is written\n`);
  }
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      stack: { type: "string" },
      region: { type: "string" },
      profile: { type: "string" },
      hours: { type: "string", default: "24" },
      print: { type: "boolean", default: false },
    },
  });
  const { stack, region, profile } = values;
  if (stack === undefined) return write(storedMeasurement());
  const found = await measured({
    stack,
    hours: hoursOf(values.hours),
    ...present({ region, profile }),
  });
  if (values.print)
    return void process.stdout.write(
      `${measuredBillTable(found)}\n\n${measuredStartsTable(found)}\n`,
    );
  writeFileSync(MEASUREMENT, `${JSON.stringify(found, undefined, 2)}\n`);
  write(found);
};

try {
  await main();
} catch (error) {
  if (!(error instanceof RangeError || error instanceof TypeError || isTidemarkError(error)))
    throw error;
  process.stderr.write(`${error.message}\n  ${USAGE}\n`);
  process.exitCode = 1;
}
