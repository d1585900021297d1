import { type Command, Option } from "commander";
import {
  RBAC_FORMS,
  readScalableKind,
  SCALABLE_KIND_WORDS,
} from "../../stack/cluster/rights/rules.ts";
import { type AddOptions, clusterChange, newCluster } from "../options/cluster-options.ts";
import {
  example,
  repeatable,
  withPlace,
  withTarget,
  type CommandRun,
  output,
} from "../options/command-options.ts";
import type { TargetOptions } from "../select/command-target.ts";
import type { CheckOptions } from "../commands/cluster-commands.ts";
import type { RbacCommandOptions } from "../commands/rbac.ts";
import type { Printer } from "../io.ts";
import { usage } from "../usage-error.ts";

/** The commands that connect a cluster, and help to. */
export const connectionCommands = (parent: Command, run: CommandRun, printer: Printer): void => {
  withPlace(parent.command("add"))
    .description("connect a cluster")
    .argument("<name>")
    .option("--kubeconfig <file>", "connect by a kubeconfig file")
    .option("--secret <id>", "connect by a kubeconfig or token in Secrets Manager")
    .option("--context <context>", "context of the kubeconfig")
    .option(
      "--service-account <namespace/name>",
      "the service account that the token of the secret must be of",
    )
    .option("--eks <cluster-id>", "connect to an EKS cluster by IAM")
    .option("--endpoint <url>", "its API endpoint")
    .option("--ca-data <base64>", "its certificate authority")
    .option(
      "--region <region>",
      "its region; the region of a named stack is given before the command",
    )
    .option("--role-arn <arn>", "role to assume for it")
    .option("--period <duration>", "sync period, 5s to 15m (default: 15s)")
    .option(
      "--partition <name=namespaces>",
      "a partition and its namespaces, or only a name for all other namespaces; repeatable",
      repeatable,
    )
    .option(
      "--specs <source>",
      "where autoscalers are kept: table, cluster, or by kind PodAutoscaler=cluster (default: table)",
    )
    .option(
      "--recommender-host <host>",
      "a recommender that autoscalers may ask: a host, http://HOST for one without TLS, * for all, none for none; repeatable",
      repeatable,
    )
    .option(
      "--label <key=value>",
      "a label of the cluster, none for none; repeatable, and takes the place of all labels before",
      repeatable,
    )
    .option("--tolerance <ratio>", "controller setting (default: 0.1)")
    .option("--downscale-stabilization <duration>", "controller setting (default: 5m)")
    .option("--cpu-initialization-period <duration>", "controller setting (default: 5m)")
    .option("--initial-readiness-delay <duration>", "controller setting (default: 30s)")
    .option("--hpa-version <version>", "the release that HPAs are decided as (default: 1.37)")
    .option("--replace", "change an existing cluster; options that are not given keep their values")
    .option("--force", "store the connection without a look at the cluster")
    .addHelpText(
      "after",
      example(
        "tidemark cluster add eu-1 --eks prod --region eu-west-1",
        "tidemark cluster add eu-1 --secret tidemark-prod/eu-1 --period 30s",
        "tidemark cluster add eu-8 --secret tidemark-prod/eu-8 --service-account tidemark/tidemark",
        "tidemark cluster add eu-1 --kubeconfig ~/.kube/config --partition shop=shop,cart --partition rest",
        "tidemark cluster add eu-1 --replace --specs cluster",
      ),
    )
    .action((name: string, options: AddOptions & TargetOptions & { readonly replace?: true }) => {
      // Here --region is the region of the cluster, not of the target.
      const { region: _ofCluster, ...target } = options;
      if (options.replace) {
        const change = clusterChange(name, options);
        return run.edit(target, async (...opened) =>
          (await import("../commands/cluster-commands.ts")).replace(...opened, change),
        );
      }
      const added = newCluster(name, options);
      return run.edit(target, async (...opened) =>
        (await import("../commands/cluster-commands.ts")).add(...opened, added),
      );
    });
  withTarget(parent.command("check"))
    .description(
      "look at a cluster from where the syncs connect to it: credentials, TLS, rights, metrics, clock; it changes nothing",
    )
    .argument("<name>")
    .addOption(scaledKind())
    .addOption(output(["table", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark cluster check eu-1",
        "tidemark cluster check eu-1 --kind argoproj.io/rollouts",
        "tidemark cluster check eu-1 -o json --stack tidemark-prod",
      ),
    )
    .action((name: string, options: CheckOptions & TargetOptions) =>
      run.show(options, async (...opened) =>
        (await import("../commands/cluster-commands.ts")).check(...opened, name, options),
      ),
    );
  withPlace(parent.command("rbac"))
    .description(
      "print the smallest roles that Tidemark needs in a cluster, and the access entry of an EKS cluster",
    )
    .argument("[name]", "a cluster that was added, for its access entry")
    .option(
      "--namespaces <namespaces>",
      "roles only in these namespaces, separated by commas (default: the whole cluster)",
    )
    .option(
      "--read-only",
      "leave out the right to scale: everything is decided and reported, nothing is changed",
    )
    .option(
      "--status",
      "add the right to write the status of autoscalers that the cluster holds, and Events about them",
    )
    .option(
      "--doctor",
      "add the right to look at what else acts on the pods of a workload, for doctor --ask-cluster",
    )
    .addOption(scaledKind())
    .option(
      "--service-account <namespace/name>",
      "a service account that has the roles in place of the group, and the service account itself",
    )
    .option("--eks <cluster-id>", "print the access entry of this EKS cluster too")
    .option(
      "--region <region>",
      "its region; the region of a named stack is given before the command",
    )
    .option(
      "--role-arn <arn>",
      "the role that is assumed for it (default: the role of the function that syncs)",
    )
    .option(
      "--aws-auth",
      "with an EKS cluster: the mapping for the ConfigMap aws-auth, where it has no access entries",
    )
    .addOption(
      new Option("-o, --output <form>", "what to make: YAML on standard output, or files for --to")
        .choices(["yaml", ...RBAC_FORMS])
        .default("yaml"),
    )
    .option("--to <folder>", "the folder of the files of helm, kustomize or terraform")
    .option(
      "--source <name>",
      "only the role for this registered metric source, a service of the cluster",
    )
    .addHelpText(
      "after",
      example(
        "tidemark cluster rbac | kubectl apply -f -",
        "tidemark cluster rbac --read-only --namespaces shop,cart",
        "tidemark cluster rbac --kind argoproj.io/rollouts",
        "tidemark cluster rbac --service-account tidemark/tidemark | kubectl apply -f -",
        "tidemark cluster rbac --eks prod --region eu-west-1",
        "tidemark cluster rbac --eks prod --region eu-west-1 --aws-auth",
        "tidemark cluster rbac -o terraform --to tidemark-rbac --eks prod --region eu-west-1",
        "tidemark cluster rbac --source main | kubectl apply -f -",
      ),
    )
    .action(async (name: string | undefined, options: RbacCommandOptions & TargetOptions) => {
      const { rbac, rbacRequest, sourceRbac } = await import("../commands/rbac.ts");
      // Here --region is the region of the EKS cluster, not of the target.
      const { region: _ofCluster, ...target } = options;
      const { source } = options;
      if (source !== undefined)
        return run(target, "document", (session, out) => sourceRbac(session, out, source));
      const request = rbacRequest(options);
      // The roles depend on no cluster, so that no data folder and no stack is needed without a
      // name.
      if (name === undefined) return rbac(printer, request);
      return run(target, "document", (session, out) => rbac(out, request, { session, name }));
    });
};

/**
 * `--kind` of the commands about the rights in a cluster. A kind that cannot be read is refused
 * before anything is opened.
 */
const scaledKind = (): Option =>
  new Option(
    "--kind <group/plural>",
    "a custom resource that is scaled too, such as argoproj.io/rollouts; repeatable",
  ).argParser((text: string, before: readonly string[] | undefined) => {
    if (!readScalableKind(text))
      throw usage(`Cannot read --kind "${text}": ${SCALABLE_KIND_WORDS}`);
    return repeatable(text, before);
  });
