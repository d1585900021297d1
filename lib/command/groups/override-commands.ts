import type { Command } from "commander";
import type { OverrideQuery } from "../../answers/service/requests.ts";
import {
  example,
  dryRun,
  withTarget,
  type CommandRun,
  output,
} from "../options/command-options.ts";
import type { ListOptionsOfOverrides, SetOptions } from "../commands/override.ts";
import {
  filterOf,
  NAMES,
  ONE_NAME,
  type ScopeOptions,
  withEditScopes,
  withScope,
  withSelector,
} from "../options/scope-options.ts";
import { oneResource } from "../select/selected-names.ts";

const code = () => import("../commands/override.ts");

const UNTIL = "RFC 3339, a duration from now, or monday, 09:00, 2026-01-05";

/** `tidemark override …`: bounds and holds that end by themselves. */
export const overrideCommands = (parent: Command, run: CommandRun): void => {
  setCommand(parent, run);
  withScope(parent.command("list"))
    .description("list the overrides that are active or ahead, the wider ones that meet it too")
    .argument("[name...]", ONE_NAME)
    .option("--all", "also those that have expired, until their item is edited")
    .option("--expired", "only those that have expired")
    .addOption(output(["table", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark override list",
        "tidemark override list shop/web",
        "tidemark override list -n shop --cluster eu-1 -o json",
      ),
    )
    .action((names: readonly string[], options: ListOptionsOfOverrides) => {
      const query: OverrideQuery =
        names.length === 0
          ? filterOf(options)
          : withoutKind(oneResource("list the overrides of", names, filterOf(options)));
      return run.show(options, async (...opened) => (await code()).list(...opened, query, options));
    });
  withTarget(parent.command("extend"))
    .description("give an override another end, later or earlier")
    .argument("<id>", "id of the override, as override list shows it")
    .requiredOption("--until <time>", `its new end: ${UNTIL}`)
    .option("--cluster <cluster>", "look only in this cluster")
    .addHelpText("after", example("tidemark override extend a-3f9c21d07e --until 2h"))
    .action((id: string, options: ScopeOptions & { readonly until: string }) =>
      run.edit(options, async (...opened) => (await code()).extend(...opened, id, options)),
    );
  withTarget(parent.command("clear"))
    .description("end overrides now")
    .argument("<id...>", "ids of the overrides, as override list shows them")
    .option("--cluster <cluster>", "look only in this cluster")
    .addHelpText("after", example("tidemark override clear a-3f9c21d07e"))
    .action((ids: readonly string[], options: ScopeOptions) =>
      run.edit(options, async (...opened) => (await code()).clear(...opened, ids, options)),
    );
};

const withoutKind = ({ kind: _kind, ...query }: ReturnType<typeof oneResource>): OverrideQuery =>
  query;

const setCommand = (parent: Command, run: CommandRun): void => {
  withSelector(withEditScopes(parent.command("set")))
    .description(
      "set bounds or a hold for some time, over schedule and manifest: for autoscalers, a namespace (-n), a cluster (--cluster) or the fleet",
    )
    .argument("[names...]", NAMES)
    .option("--fleet", "every autoscaler of every cluster")
    .option("--min <replicas>", "fewest replicas")
    .option("--max <replicas>", "most replicas")
    .option("--pin <replicas>", "exactly so many: --min and --max in one")
    .option(
      "--min-factor <factor>",
      "so many times the own minimum of each autoscaler, rounded up: 1.5",
    )
    .option("--hold", "no count is written")
    .option("--until <time>", `its end, which only --hold may do without: ${UNTIL}`)
    .option("--from <time>", `its beginning (default: now): ${UNTIL}`)
    .requiredOption("--reason <text>", "why, in one line; everyone who meets the override reads it")
    .option("--force", "go before overrides of narrower places, such as in an incident")
    .addOption(dryRun())
    .addOption(output(["text", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark override set shop/web --min 20 --until 2h --reason 'TV spot at 20:15'",
        "tidemark override set -n shop --cluster eu-1 --min-factor 1.5 --from 'friday 08:00' --until 'saturday 02:00' --reason 'Black Friday'",
        "tidemark override set --fleet --max 50 --force --until 1h --reason 'incident 4711: the database is full' --dry-run",
      ),
    )
    .action(async (names: readonly string[], options: SetOptions) => {
      const { placesOf, setOf, set } = await code();
      const places = placesOf(names, options);
      const wanted = setOf(options);
      return run(
        options,
        options.output === "text" ? "edit" : "document",
        async (session, printer) => set(session, printer, { places, wanted, options }),
      );
    });
};
