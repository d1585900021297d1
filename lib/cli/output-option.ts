import { Option } from "commander";

/** `-o` with the formats of a command; the first is the default. */
export const output = (choices: readonly string[]): Option =>
  new Option("-o, --output <format>", "output format").choices(choices).default(choices[0]);
