import { Option } from "commander";
import { textOfFile } from "../../local/run/text-file.ts";
import { columnsOfLines, isTemplate, templateOf } from "../jsonpath/format.ts";
import { formatHint } from "./word-order.ts";
import { usage } from "../usage-error.ts";

/** Bytes of a file with a template. A template of a person has some hundred. */
const TEMPLATE_MAX_BYTES = 64 * 1024;
const FILE_PREFIX = "jsonpath-file=";
const COLUMNS_FILE_PREFIX = "custom-columns-file=";

/** `-o` with the formats of a command; the first is the default. What can be printed as JSON can be printed by a template too, which a file can hold. */
export const output = (formats: readonly string[]): Option => {
  const shown = formats.includes("json")
    ? [...formats, "jsonpath=TEMPLATE", "jsonpath-file=FILE", "custom-columns=HEADER:PATH,…", "custom-columns-file=FILE"]
    : formats;
  const option = new Option(
    "-o, --output <format>",
    formats.includes("json")
      ? "output format, jsonpath=TEMPLATE, jsonpath-file=FILE, custom-columns=HEADER:PATH,… or custom-columns-file=FILE"
      : "output format",
  )
    .default(formats[0])
    .argParser((words: string) => {
      if (formats.includes(words)) return words;
      const format = formats.includes("json") ? withTemplateOfFile(words) : words;
      if (!isTemplate(format) || !formats.includes("json")) {
        const hint = formats.includes("json") ? formatHint(words) : undefined;
        throw usage(`Cannot use --output "${words}": ${hint ?? `give one of ${shown.join(", ")}`}`);
      }
      // A template that cannot be read is refused before anything is opened.
      templateOf(format);
      return format;
    });
  // For the completion of the shell: the parser above checks the format.
  option.argChoices = formats.includes("json") ? [...formats, "jsonpath=", FILE_PREFIX, "custom-columns=", COLUMNS_FILE_PREFIX] : [...formats];
  return option;
};

/** The template of the file stands in the place of its name, as it is, with its line ends. */
const withTemplateOfFile = (words: string): string => {
  if (words.startsWith(COLUMNS_FILE_PREFIX)) return columnsOfLines(textOfFile(words.slice(COLUMNS_FILE_PREFIX.length), TEMPLATE_MAX_BYTES));
  return words.startsWith(FILE_PREFIX) ? `jsonpath=${textOfFile(words.slice(FILE_PREFIX.length), TEMPLATE_MAX_BYTES)}` : words;
};
