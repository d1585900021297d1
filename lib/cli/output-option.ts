import { Option } from "commander";
import { isJsonPath, templateOf } from "./jsonpath/format.ts";
import { usage } from "./usage-error.ts";

/** `-o` with the formats of a command; the first is the default. What can be printed as JSON can be printed by a template too. */
export const output = (formats: readonly string[]): Option => {
  const shown = formats.includes("json") ? [...formats, "jsonpath=TEMPLATE"] : formats;
  const option = new Option("-o, --output <format>", formats.includes("json") ? "output format, or jsonpath=TEMPLATE" : "output format")
    .default(formats[0])
    .argParser((format: string) => {
      if (formats.includes(format)) return format;
      if (!isJsonPath(format) || !formats.includes("json")) throw usage(`Cannot use --output "${format}": give one of ${shown.join(", ")}`);
      // A template that cannot be read is refused before anything is opened.
      templateOf(format);
      return format;
    });
  // For the completion of the shell: the parser above checks the format.
  option.argChoices = [...formats];
  return option;
};
