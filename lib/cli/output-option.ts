import { Option } from "commander";
import { isJsonPath, templateOf } from "./jsonpath/format.ts";
import { usage } from "./usage-error.ts";

/** `-o` with the formats of a command; the first is the default. What can be printed as JSON can be printed by a template too. */
export const output = (formats: readonly string[]): Option => {
  const shown = formats.includes("json") ? [...formats, "jsonpath=TEMPLATE"] : formats;
  return new Option("-o, --output <format>", `output format: ${shown.join(", ")}`).default(formats[0]).argParser((format: string) => {
    if (formats.includes(format)) return format;
    if (!isJsonPath(format) || !formats.includes("json")) throw usage(`Cannot use --output "${format}": give one of ${shown.join(", ")}`);
    // A template that cannot be read is refused before anything is opened.
    templateOf(format);
    return format;
  });
};
