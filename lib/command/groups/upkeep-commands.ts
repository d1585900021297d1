import { type Command, Option } from "commander";
import {
  example,
  withTarget,
  type CommandRun,
  type SheetOptions,
  type TableOptions,
  output,
} from "../options/command-options.ts";
import type { FreezeOptions } from "../commands/fleet.ts";
import type { ResetOptions } from "../commands/partition-commands.ts";
import type { DocumentFormat } from "../output/documents.ts";
import type { ScopeOptions } from "../options/scope-options.ts";
import { ROLES, type Role } from "../../rules/model/access.ts";
import { present } from "../../rules/model/json.ts";
import type { Filter, NewGrant } from "../../answers/service/service.ts";
import { usage } from "../usage-error.ts";

interface ExportOptions {
  readonly grants?: true;
  readonly output: DocumentFormat;
}

interface ListOptions extends Omit<TableOptions, "output"> {
  readonly output: TableOptions["output"] | "wide";
}

const code = {
  cluster: () => import("../commands/cluster-commands.ts"),
  fleet: () => import("../commands/fleet.ts"),
  partition: () => import("../commands/partition-commands.ts"),
};

export const clusterCommands = (parent: Command, run: CommandRun): void => {
  withTarget(parent.command("list"))
    .description("list clusters")
    .addOption(output(["table", "wide", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark cluster list -o wide",
        "tidemark cluster list -o jsonpath='{.items[*].name}'",
      ),
    )
    .action((options: ListOptions) =>
      run.show(options, async (...opened) =>
        (await code.cluster()).list(...opened, options.output),
      ),
    );
  withTarget(parent.command("describe"))
    .description("describe one cluster")
    .argument("<name>")
    .addOption(output(["text", "json", "yaml"]))
    .addHelpText("after", example("tidemark cluster describe eu-1"))
    .action((name: string, options: SheetOptions) =>
      run.show(options, async (...opened) =>
        (await code.cluster()).describe(...opened, name, options.output),
      ),
    );
  withTarget(parent.command("export"))
    .description(
      "print clusters as documents that apply finds unchanged; all of them without names",
    )
    .argument("[names...]")
    .option("--grants", "with the grants that name each cluster; apply then keeps them as they are")
    .addOption(output(["yaml", "json"]))
    .addHelpText(
      "after",
      example("tidemark cluster export > clusters.yaml", "tidemark cluster export eu-1 --grants"),
    )
    .action((names: readonly string[], options: ExportOptions & ScopeOptions) =>
      run.show(options, async (...opened) =>
        (await import("../commands/cluster-documents.ts")).exportClusters(
          ...opened,
          names,
          options,
        ),
      ),
    );
  withTarget(parent.command("pause"))
    .description("pause a cluster; its workloads keep their counts")
    .argument("<name>")
    .option("--until <time>", "end of the pause: RFC 3339, or a duration from now")
    .addHelpText("after", example("tidemark cluster pause eu-1 --until 2h"))
    .action((name: string, options: ScopeOptions & { readonly until?: string }) =>
      run.edit(options, async (...opened) =>
        (await code.cluster()).pause(...opened, name, options.until),
      ),
    );
  withTarget(parent.command("resume"))
    .description("resume a paused cluster")
    .argument("<name>")
    .addHelpText("after", example("tidemark cluster resume eu-1"))
    .action((name: string, options: ScopeOptions) =>
      run.edit(options, async (...opened) => (await code.cluster()).resume(...opened, name)),
    );
  withTarget(parent.command("remove"))
    .description("remove a cluster that has no autoscalers")
    .argument("<name>")
    .addHelpText("after", example("tidemark cluster remove eu-1"))
    .action((name: string, options: ScopeOptions) =>
      run.edit(options, async (...opened) => (await code.cluster()).remove(...opened, name)),
    );
};

export const partitionCommands = (parent: Command, run: CommandRun): void => {
  withTarget(parent.command("describe"))
    .description(
      "describe windows pages and open intents, and the autoscalers that hold because one cannot be read",
    )
    .argument("<cluster/partition>")
    .addOption(output(["text", "json", "yaml"]))
    .addHelpText("after", example("tidemark partition describe eu-1/shop"))
    .action((path: string, options: SheetOptions) =>
      run.show(options, async (...opened) =>
        (await code.partition()).describe(...opened, path, options.output),
      ),
    );
  withTarget(parent.command("reset"))
    .description(
      "show what of a partition cannot be read or is ahead of the clock; with --yes repair it, and its autoscalers go on at their limits",
    )
    .argument("<cluster/partition>")
    .option("--yes", "confirm that what cannot be read is lost")
    .addHelpText(
      "after",
      example("tidemark partition reset eu-1/shop", "tidemark partition reset eu-1/shop --yes"),
    )
    .action((path: string, options: ScopeOptions & ResetOptions) =>
      run(options, options.yes ? "edit" : "document", async (...opened) =>
        (await code.partition()).reset(...opened, path, options),
      ),
    );
};

export const fleetCommands = (parent: Command, run: CommandRun): void => {
  withTarget(parent.command("freeze"))
    .description("freeze the fleet; every workload keeps its count")
    .requiredOption("--reason <text>", "reason that describe and the log show")
    .option("--replace", "replace the reason of a fleet that is already frozen")
    .addHelpText(
      "after",
      example("tidemark fleet freeze --reason 'API servers are being upgraded'"),
    )
    .action(async (options: ScopeOptions & FreezeOptions) => {
      const fleet = await code.fleet();
      const reason = fleet.freezeReason(options);
      return run.edit(options, async (session, printer) =>
        fleet.freeze(session, printer, reason, options.replace === true),
      );
    });
  withTarget(parent.command("thaw"))
    .description("thaw the fleet")
    .addHelpText("after", example("tidemark fleet thaw"))
    .action((options: ScopeOptions) =>
      run.edit(options, async (...opened) => (await code.fleet()).thaw(...opened)),
    );
  withTarget(parent.command("adopt"))
    .description(
      "for tables that were restored or copied: go on with them, every past scale unknown and the fleet frozen",
    )
    .option("--yes", "confirm that no other stack goes on with the former tables")
    .addHelpText("after", example("tidemark fleet adopt --yes"))
    .action(async (options: ScopeOptions & ResetOptions) => {
      const fleet = await code.fleet();
      fleet.confirmed(options);
      return run.edit(options, async (session, printer) => fleet.adopt(session, printer));
    });
  withTarget(parent.command("move"))
    .description(
      "in the region of the fleet: give it up for another one; in that region: take it, once no other stack can act",
    )
    .requiredOption("--to <region>", "region of the stack that is to have the fleet")
    .addHelpText("after", example("tidemark fleet move --to eu-west-1 --region eu-west-1"))
    .action((options: ScopeOptions & { readonly to: string }) =>
      run.edit(options, async (...opened) => (await code.fleet()).moveTo(...opened, options.to)),
    );
  withTarget(parent.command("describe"))
    .description("show whether the fleet is frozen, since when, by which user and why")
    .addOption(output(["text", "json", "yaml"]))
    .addHelpText("after", example("tidemark fleet describe"))
    .action((options: SheetOptions) =>
      run.show(options, async (...opened) => (await code.fleet()).describe(...opened, options)),
    );
};

const accessCode = () => import("../commands/access.ts");

type GrantOptions = ScopeOptions & Pick<NewGrant, "role" | "cluster" | "namespace">;

/** `tidemark access …`: who may look at what, and edit it. */
export const accessCommands = (parent: Command, run: CommandRun): void => {
  withTarget(parent.command("grant"))
    .description("give callers a right; from then on these callers have only their grants")
    .argument("<arn-pattern>", "ARN of the callers, where * stands for any characters of one part")
    .addOption(
      new Option("--role <role>", "what they may do; edit includes view")
        .choices(ROLES)
        .makeOptionMandatory(),
    )
    .requiredOption(
      "--cluster <pattern>",
      "clusters with such names: eu-1, 'prod-*', or '*' for the fleet",
    )
    .option("-n, --namespace <pattern>", "only namespaces with such names")
    .addHelpText(
      "after",
      example(
        "tidemark access grant 'arn:aws:sts::123456789012:assumed-role/TeamA/*' --role edit --cluster 'prod-*' -n team-a",
      ),
    )
    .action((arn: string, options: GrantOptions) =>
      run.edit(options, async (...opened) => (await accessCode()).grant(...opened, arn, options)),
    );
  withTarget(parent.command("revoke"))
    .description("take a grant back")
    .argument("<id>", "id of the grant, as access list shows it")
    .addHelpText("after", example("tidemark access revoke 3f9a1c20"))
    .action((id: string, options: ScopeOptions) =>
      run.edit(options, async (...opened) => (await accessCode()).revoke(...opened, id)),
    );
  withTarget(parent.command("list"))
    .description("list grants, and whether they are required")
    .addOption(output(["table", "json", "yaml"]))
    .addHelpText("after", example("tidemark access list"))
    .action((options: TableOptions) =>
      run.show(options, async (...opened) => (await accessCode()).list(...opened, options.output)),
    );
  withTarget(parent.command("require"))
    .description("refuse callers without a grant, or no longer")
    .argument("<on|off>")
    .addHelpText("after", example("tidemark access require on"))
    .action((state: string, options: ScopeOptions) => {
      if (state !== "on" && state !== "off") throw usage(`Cannot use "${state}": give on or off`);
      return run.edit(options, async (...opened) =>
        (await accessCode()).require(...opened, state === "on"),
      );
    });
};

/** `tidemark auth can-i`. */
export const authCommands = (parent: Command, run: CommandRun): void => {
  withTarget(parent.command("can-i"))
    .description(
      "whether you may view or edit a namespace, all of a cluster, or the fleet; exits with 1 where not",
    )
    .argument("<verb>", "view or edit")
    .option("--cluster <cluster>", "of this cluster")
    .option("-n, --namespace <namespace>", "of this namespace; needs --cluster")
    .addOption(output(["text", "json", "yaml"]))
    .addHelpText("after", example("tidemark auth can-i edit --cluster eu-1 -n shop"))
    .action(
      (
        verb: string,
        {
          cluster,
          namespace,
          ...options
        }: ScopeOptions & Filter & { readonly output: "text" | DocumentFormat },
      ) => {
        const role = ROLES.find((known): known is Role => known === verb);
        if (role === undefined) throw usage(`Cannot ask for "${verb}": give ${ROLES.join(" or ")}`);
        if (namespace !== undefined && cluster === undefined)
          throw usage("Cannot ask for a namespace only: give its cluster with --cluster");
        const query = { verb: role, ...present({ cluster, namespace }) };
        return run.show(options, async (...opened) =>
          (await accessCode()).canI(...opened, query, options.output),
        );
      },
    );
};
