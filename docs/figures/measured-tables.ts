import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type BilledFleet, type Bill, billOf } from "../../lib/answers/cost/bill.ts";
import { fleetOf } from "./cost-tables.ts";
import { dollarsOfUse } from "./measured-bill.ts";
import { type MeasuredStack, measuredSchema } from "./measured-stack.ts";

/** What `npm run measure` has read of a stack; the file is absent before the first time. */
export interface Measurement {
  readonly stack: MeasuredStack;
  /** What `tidemark cost` says of the same stack. */
  readonly said: { readonly fleet: BilledFleet; readonly parts: Bill["parts"] };
}

export const MEASUREMENT = join(import.meta.dirname, "../measured.json");

export const storedMeasurement = (): Measurement | undefined => {
  if (!existsSync(MEASUREMENT)) return undefined;
  const { stack, said } = JSON.parse(readFileSync(MEASUREMENT, "utf8"));
  return { stack: measuredSchema.parse(stack), said };
};

const NEVER = "never measured";
const KB = 1_024;
const SECOND_MS = 1_000;
const DAY_SECONDS = 86_400;

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const secondsOf = ({ since, until }: MeasuredStack): number =>
  (Date.parse(until) - Date.parse(since)) / SECOND_MS;

/** Messages are sent in groups of ten, and received and deleted one by one. */
const SENT_TOGETHER = 10;

const measuredDollars = (stack: MeasuredStack): Readonly<Record<string, number>> => {
  const functions = Object.values(stack.functions);
  const sum = (value: (one: (typeof functions)[number]) => number): number =>
    functions.reduce((all, one) => all + value(one), 0);
  const { sent, received, deleted, empty } = stack.queue;
  return dollarsOfUse({
    seconds: secondsOf(stack),
    ...stack.tables,
    queueRequests: sent / SENT_TOGETHER + received + deleted + empty,
    logBytes: stack.logBytes,
    lambda: {
      calls: sum(({ calls }) => calls),
      gbSeconds: sum(({ durationMs, memoryMb }) => ((durationMs / SECOND_MS) * memoryMb) / KB),
    },
  });
};

/** Parts of a bill that rest on a model, and that AWS measures. */
const PARTS = ["Lambda", "DynamoDB", "SQS", "logs"] as const;

const fleetText = ({ clusters, autoscalers, periodSeconds, changing }: BilledFleet): string =>
  `${clusters} clusters, ${autoscalers.toLocaleString("en")} autoscalers, a sync every ${Math.round(periodSeconds)} s, ${(changing * 100).toFixed(1)} % changing`;

/** The table of docs/cost.md: a bill by the model beside one of what AWS measured. */
export const measuredBillTable = (measurement: Measurement | undefined): string => {
  const fleet = measurement?.said.fleet ?? fleetOf(10, 1_000);
  const parts = measurement?.said.parts ?? billOf(fleet).parts;
  const dollars = measurement && measuredDollars(measurement.stack);
  return [
    row([
      `dollars a month: ${fleetText(fleet)}`,
      "by `tidemark cost`",
      measurement
        ? `by AWS, ${(secondsOf(measurement.stack) / DAY_SECONDS).toFixed(1)} days to ${measurement.stack.until.slice(0, 10)}, ${measurement.stack.region}`
        : "by AWS",
    ]),
    "|---|---:|---:|",
    ...PARTS.map((part) =>
      row([
        part === "DynamoDB" ? "DynamoDB (AWS counts what is stored apart)" : part,
        `$${parts[part].toFixed(2)}`,
        dollars?.[part] === undefined ? NEVER : `$${dollars[part].toFixed(2)}`,
      ]),
    ),
  ].join("\n");
};

/** The value below which half of the ascending values are. */
const medianOf = (ascending: readonly number[]): number | undefined =>
  ascending[Math.floor(ascending.length / 2)];

/** The table of docs/speed.md: starts and calls on Lambda. */
export const measuredStartsTable = (measurement: Measurement | undefined): string => {
  const text = (value: number | undefined): string =>
    value === undefined ? "none" : Math.round(value).toLocaleString("en");
  return [
    row(
      "function,starts,init ms (median),init ms (longest),ms of a call (mean),longest call,at once,processor".split(
        ",",
      ),
    ),
    "|---|---:|---:|---:|---:|---:|---:|---|",
    ...(measurement
      ? Object.entries(measurement.stack.functions).map(([name, found]) =>
          row([
            `\`${name}\``,
            String(found.initMs.length),
            text(medianOf(found.initMs)),
            text(found.initMs.at(-1)),
            text(found.calls === 0 ? undefined : found.durationMs / found.calls),
            text(found.longestMs),
            String(found.concurrent),
            found.architecture,
          ]),
        )
      : [row(["each", ...Array.from({ length: 7 }, () => NEVER)])]),
  ].join("\n");
};
