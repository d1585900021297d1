import type { Command } from "commander";
import { withTarget } from "./command-options.ts";
import { type CommandIo, showsOf } from "./io.ts";
import type { DocumentFormat } from "./output/document-text.ts";
import { output } from "./output-option.ts";
import type { Run } from "./run-command.ts";
import type { ScopeOptions } from "./scope-options.ts";

/** Loads the code when a command runs, so that help, the version and usage errors start fast. */
const code = () => import("./commands/calendar.ts");

/** `tidemark calendar …`: dates that schedules leave out by name. */
export const calendarCommands = (parent: Command, run: Run, io: Pick<CommandIo, "stdin">): void => {
  withTarget(parent.command("put"))
    .description("store a calendar of dates, or replace the one of this name; entries of schedules name it with exceptFrom")
    .argument("<name>")
    .requiredOption(
      "-f, --filename <file>",
      "dates or ranges, one a line (2026-12-25, 2026-12-24/2026-12-31), or an iCalendar file of whole days; - for standard input",
    )
    .action(async (name: string, options: ScopeOptions & { readonly filename: string }) => {
      const { put, readCalendarFile } = await code();
      const written = await readCalendarFile(options.filename, io.stdin);
      return run(options, "edit", (session, printer) => put(session, printer, name, { file: options.filename, written }));
    });
  withTarget(parent.command("list"))
    .description("list the calendars, with the next and the last date of each")
    .addOption(output(["table", "dates", "json", "yaml"]))
    .action((options: ScopeOptions & { readonly output: "table" | "dates" | DocumentFormat }) =>
      run(options, showsOf(options.output), async (session, printer) => (await code()).list(session, printer, options.output)),
    );
  withTarget(parent.command("delete"))
    .description("delete a calendar that no schedule names")
    .argument("<name>")
    .option("--force", "also where a schedule names it; its windows then start on these dates too")
    .action((name: string, options: ScopeOptions & { readonly force?: true }) =>
      run(options, "edit", async (session, printer) => (await code()).remove(session, printer, name, options)),
    );
};
