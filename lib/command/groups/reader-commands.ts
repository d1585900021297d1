import { type Command, Option } from "commander";
import { type CommandRun, example, withTarget } from "../options/command-options.ts";
import { withScope } from "../options/scope-options.ts";
import type { AuditOptions } from "../commands/audit.ts";
import type { Io, Printer } from "../io.ts";
import type { TargetOptions } from "../select/command-target.ts";

/** `tidemark audit`: for people who look at what was done, and by whom. */
export const auditCommand = (root: Command, run: CommandRun, printer: Printer): void => {
  withScope(root.command("audit"))
    .description(
      "print who changed what, and every scale with its reason and the edit that decided it, as a chain of lines",
    )
    .option("--since <time>", "from this time on (default: 30 days)")
    .option("--until <time>", "up to this time (default: now)")
    .option(
      "--verify <file...>",
      "look in place of it whether nothing was taken out of an audit, or of daily audits that follow each other",
    )
    .option("--head <hash>", "with --verify: the head of the last chain, as it was noted")
    .addOption(
      new Option("-o, --output <format>", "output format")
        .choices(["csv", "json", "html"])
        .default("csv"),
    )
    .addHelpText(
      "after",
      example(
        "tidemark audit --since 2026-01-01 --until 2026-04-01 -o html > audit.html",
        "tidemark audit -n shop --since 7d --stack tidemark-prod > shop.csv",
        "tidemark audit --verify audit.html --head 1f2a…",
      ),
    )
    .action(async (options: AuditOptions) => {
      const { audit, checkOptions, verify } = await import("../commands/audit.ts");
      checkOptions(options);
      if (options.verify !== undefined) return verify(printer, options.verify, options.head);
      return run(options, "document", async (...opened) => audit(...opened, options));
    });
};

/** `tidemark mcp`: for assistants, which ask what people ask with the commands that look. */
export const mcpCommand = (
  root: Command,
  run: CommandRun,
  { io, printer }: { readonly io: Io; readonly printer: Printer },
): void => {
  withTarget(root.command("mcp"))
    .description(
      "answer assistants on standard input and output by the Model Context Protocol; it only reads",
    )
    .addHelpText("after", example("tidemark mcp", "tidemark mcp --stack tidemark-prod"))
    .action(async (options: TargetOptions) =>
      (await import("../commands/mcp.ts")).mcp((work) => run(options, "document", work), {
        printer,
        io,
      }),
    );
};
