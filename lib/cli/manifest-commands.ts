import { type Command, Option } from "commander";
import { validateOption } from "../local/run/validate-option.ts";
import type { ConvertOptions } from "./commands/convert.ts";
import { type Io, printerOn } from "./io.ts";

const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value];

/** Commands on manifests alone: they open no data folder. */
export const manifests = (root: Command, io: Io): void => {
  root
    .command("convert")
    .description("print manifests of any accepted form as PodAutoscalers that decide the same")
    .requiredOption("-f, --filename <file>", "manifests in YAML or JSON, - for standard input; repeatable", collect)
    .addOption(new Option("-o, --output <format>", "how to print it").choices(["yaml", "json"]).default("yaml"))
    .addOption(validateOption())
    .action(async (options: ConvertOptions) => (await import("./commands/convert.ts")).convert(printerOn(io), options, io));
  root
    .command("explain-schema")
    .description("what a field of a PodAutoscaler means, its default and its bounds")
    .argument("[field]", "its path, such as spec.scaleUp.sustainSeconds; without one, the fields of the spec")
    .addOption(new Option("-o, --output <format>", "how to print it").choices(["text", "json", "yaml"]).default("text"))
    .action(async (field: string | undefined, { output }: { readonly output: "text" | "json" | "yaml" }) =>
      (await import("./commands/explain-schema.ts")).explainSchema(printerOn(io), field, output),
    );
};
