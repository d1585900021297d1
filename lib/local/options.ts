import { Command, InvalidArgumentError } from "commander";
import { readDuration } from "../model/duration.ts";
import { DEFAULT_DATA_FOLDER } from "./folder-layout.ts";

/** What a person asked `npm start` for. */
export interface RunOptions {
  readonly data: string;
  readonly trace?: string;
  readonly manifest: readonly string[];
  readonly for?: number;
  readonly seed?: number;
  readonly speed: number;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Of the series on 127.0.0.1; 0: a free one. */
  readonly metricsPort: number;
}

const DEFAULT_SPEED = 60;
const MAX_SPEED = 1_000_000;

/** The options of `npm start --`. Called wrongly, commander says how on standard error and the process ends with 1. */
export const startCommand = (run: (options: RunOptions) => Promise<void>): Command =>
  new Command("npm start --")
    .description("Runs Tidemark here: on a simulated cluster under recorded load, or on a cluster of yours.")
    .option("--data <dir>", "folder of everything that the run keeps", DEFAULT_DATA_FOLDER)
    .option("--manifest <file>", "apply these autoscalers instead of the demonstration's (repeatable)", collect, [])
    .option("--trace <file>", "play this recorded load (CSV: timestamp,value) on every deployment")
    .option("--speed <n>", "virtual seconds per second, at most", positive, DEFAULT_SPEED)
    .option("--for <duration>", "stop after so much virtual time: 90s, 1h30m, 2h", duration)
    .option("--seed <n>", "another seed, other start-up times of pods", wholeNumber)
    .option("--kubeconfig <file>", "scale this cluster in real time instead of a simulated one")
    .option("--context <name>", "context of the kubeconfig")
    .option("--metrics-port <port>", "serve the series on this port of 127.0.0.1; 0 takes a free one", portNumber, 0)
    .showHelpAfterError("(--help shows all options)")
    .allowExcessArguments(false)
    .action(run);

const collect = (file: string, before: readonly string[]): readonly string[] => [...before, file];

const wholeNumber = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("Wanted a whole number.");
  return Number(text);
};

const MAX_PORT = 65_535;

const portNumber = (text: string): number => {
  const port = wholeNumber(text);
  if (port > MAX_PORT) throw new InvalidArgumentError(`Wanted a port, at most ${MAX_PORT}.`);
  return port;
};

const positive = (text: string): number => {
  const value = Number(text);
  if (!(value > 0 && value <= MAX_SPEED)) throw new InvalidArgumentError(`Wanted a number above 0, at most ${MAX_SPEED}.`);
  return value;
};

/** A hundred years: its end can still be written down. */
const MAX_DURATION_MS = 36_525 * 86_400_000;

const duration = (text: string): number => {
  const value = readDuration(text);
  if (value === undefined || value <= 0) throw new InvalidArgumentError("Wanted a duration like 90s, 1m30s, 40m or 2h.");
  if (value > MAX_DURATION_MS) throw new InvalidArgumentError("Wanted at most 36525d.");
  return Math.round(value);
};
