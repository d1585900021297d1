import type { Command } from "commander";
import { validateOption } from "../local/run/options.ts";
import { withFiles } from "./command-options.ts";
import type { ConvertOptions } from "./commands/convert.ts";
import type { CommandIo, Printer } from "./io.ts";
import type { DocumentFormat } from "./output/document-text.ts";
import { output } from "./output-option.ts";
import { TRIGGER_SOURCE } from "./trigger-sources.ts";

/** Commands that only read manifests, or explain words, and open no data folder. */
export const manifestCommands = (root: Command, io: CommandIo, printer: Printer): void => {
  withFiles(root.command("convert"))
    .description("convert manifests of any accepted form to PodAutoscalers with the same decisions")
    .option(...TRIGGER_SOURCE)
    .addOption(output(["yaml", "json"]))
    .addOption(validateOption())
    .action(async (options: ConvertOptions) => (await import("./commands/convert.ts")).convert(printer, options, io));
  root
    .command("crd")
    .description("print the CustomResourceDefinition of a PodAutoscaler, for clusters that hold autoscalers themselves")
    .addOption(output(["yaml", "json"]))
    .action(async ({ output: format }: { readonly output: DocumentFormat }) => (await import("./commands/schema.ts")).crd(printer, format));
  root
    .command("explain-schema")
    .description("show the meaning, default and bounds of a field of a PodAutoscaler")
    .argument("[field]", "path of the field, such as spec.scaleUp.sustainSeconds (default: the fields of the spec)")
    .addOption(output(["text", "json", "yaml"]))
    .action(async (field: string | undefined, { output: format }: { readonly output: "text" | DocumentFormat }) =>
      (await import("./commands/schema.ts")).explainSchema(printer, field, format),
    );
  root
    .command("explain-reason")
    .description("show what a reason of an event, decision or condition means, and what to do")
    .argument("[reason]", "a reason such as ScaleDownStabilized (default: all of them)")
    .addOption(output(["text", "json", "yaml"]))
    .action(async (reason: string | undefined, { output: format }: { readonly output: "text" | DocumentFormat }) =>
      (await import("./commands/explain-reason.ts")).explainReason(printer, reason, format),
    );
};
