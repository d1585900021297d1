import { type Command, Option } from "commander";
import { ROLES, type Role } from "../../model/access.ts";
import type { Filter, NewGrant } from "../../service/service.ts";
import { withTarget, type Run } from "../options/command-options.ts";
import { showsOf } from "../io.ts";
import type { DocumentFormat } from "../output/document-text.ts";
import { output } from "../options/output-option.ts";
import type { ScopeOptions } from "../options/scope-options.ts";
import { usage } from "../usage-error.ts";

/** Loads the code when a command runs, so that help, the version and usage errors start fast. */
const code = () => import("../commands/access.ts");

type GrantOptions = ScopeOptions & Pick<NewGrant, "role" | "cluster" | "namespace">;

/** `tidemark access …`: who may look at what, and edit it. */
export const accessCommands = (parent: Command, run: Run): void => {
  withTarget(parent.command("grant"))
    .description("give callers a right; from then on these callers have only their grants")
    .argument("<arn-pattern>", "ARN of the callers, where * stands for any characters of one part")
    .addOption(new Option("--role <role>", "what they may do; edit includes view").choices(ROLES).makeOptionMandatory())
    .requiredOption("--cluster <pattern>", "clusters with such names: eu-1, 'prod-*', or '*' for the fleet")
    .option("-n, --namespace <pattern>", "only namespaces with such names")
    .action((arn: string, options: GrantOptions) =>
      run(options, "edit", async (session, printer) => (await code()).grant(session, printer, arn, options)),
    );
  withTarget(parent.command("revoke"))
    .description("take a grant back")
    .argument("<id>", "id of the grant, as access list shows it")
    .action((id: string, options: ScopeOptions) => run(options, "edit", async (session, printer) => (await code()).revoke(session, printer, id)));
  withTarget(parent.command("list"))
    .description("list grants, and whether they are required")
    .addOption(output(["table", "json", "yaml"]))
    .action((options: ScopeOptions & { readonly output: "table" | DocumentFormat }) =>
      run(options, showsOf(options.output), async (session, printer) => (await code()).list(session, printer, options.output)),
    );
  withTarget(parent.command("require"))
    .description("refuse callers without a grant, or no longer")
    .argument("<on|off>")
    .action((state: string, options: ScopeOptions) => {
      if (state !== "on" && state !== "off") throw usage(`Cannot use "${state}": give on or off`);
      return run(options, "edit", async (session, printer) => (await code()).require(session, printer, state === "on"));
    });
};

/** `tidemark auth can-i`. */
export const authCommands = (parent: Command, run: Run): void => {
  withTarget(parent.command("can-i"))
    .description("whether you may view or edit a namespace, all of a cluster, or the fleet; exits with 1 where not")
    .argument("<verb>", "view or edit")
    .option("--cluster <cluster>", "of this cluster")
    .option("-n, --namespace <namespace>", "of this namespace; needs --cluster")
    .addOption(output(["text", "json", "yaml"]))
    .action((verb: string, { cluster, namespace, ...options }: ScopeOptions & Filter & { readonly output: "text" | DocumentFormat }) => {
      const role = ROLES.find((known): known is Role => known === verb);
      if (role === undefined) throw usage(`Cannot ask for "${verb}": give ${ROLES.join(" or ")}`);
      if (namespace !== undefined && cluster === undefined) throw usage("Cannot ask for a namespace alone: give its cluster with --cluster");
      const query = { verb: role, ...(cluster !== undefined && { cluster }), ...(namespace !== undefined && { namespace }) };
      return run(options, showsOf(options.output), async (session, printer) => (await code()).canI(session, printer, query, options.output));
    });
};
