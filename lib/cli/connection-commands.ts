import type { Command } from "commander";
import type { TargetOptions } from "./command-target.ts";
import type { RbacCommandOptions } from "./commands/rbac.ts";
import { type Io, type Printer, printerOn, type Session } from "./io.ts";
import { withPlace } from "./target-options.ts";

type Run = (place: TargetOptions, work: (session: Session, printer: Printer) => Promise<void>) => Promise<void>;

const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value];

/** The commands that help to connect a cluster. */
export const connectionCommands = (parent: Command, run: Run, io: Io): void => {
  withPlace(parent.command("rbac"))
    .description("print the smallest roles that Tidemark needs in a cluster, and the access entry of an EKS cluster")
    .argument("[name]", "a cluster that was added, for its access entry")
    .option("--namespaces <namespaces>", "roles in these namespaces alone, separated by commas (default: the whole cluster)")
    .option("--read-only", "leave out the right to scale: everything is decided and reported, nothing is changed")
    .option("--kind <group/plural>", "a custom resource that is scaled too, such as argoproj.io/rollouts; repeatable", collect)
    .option("--eks <cluster-id>", "print the access entry of this EKS cluster too")
    .option("--region <region>", "its region; that of a named stack is given before the command")
    .option("--role-arn <arn>", "the role that is assumed for it (default: the role of the function that syncs)")
    .addHelpText("after", RBAC_EXAMPLES)
    .action(async (name: string | undefined, options: RbacCommandOptions & TargetOptions) => {
      const { rbac, rbacRequest } = await import("./commands/rbac.ts");
      // Here --region is that of the EKS cluster, and none of the target.
      const { region: _ofCluster, ...place } = options;
      const request = rbacRequest(options);
      // The roles depend on no cluster, so that no data folder and no stack is needed without a name.
      if (name === undefined) return rbac(printerOn(io), request);
      return run(place, (session, printer) => rbac(printer, request, { session, name }));
    });
};

const RBAC_EXAMPLES = `
Examples:
  tidemark cluster rbac | kubectl apply -f -
  tidemark cluster rbac --read-only --namespaces shop,cart
  tidemark cluster rbac --kind argoproj.io/rollouts
  tidemark cluster rbac --eks prod --region eu-west-1`;
