import { type Command, Option } from "commander";
import {
  AUTH_KINDS,
  SERVICE_SCHEMES,
  SIGNED_SERVICE_NAMES,
  SOURCE_KINDS,
  type SignedService,
  type SourceAuth,
  type SourceService,
} from "../../rules/model/metric-source.ts";
import { present } from "../../rules/model/json.ts";
import type { SourceQuestion } from "../../rules/sources/kinds.ts";
import type { NewSource } from "../../answers/service/requests.ts";
import {
  example,
  repeatable,
  withTarget,
  type CommandRun,
  type TableOptions,
  output,
} from "../options/command-options.ts";
import { type CommandIo, type Printer, showsOf } from "../io.ts";
import type { DocumentFormat } from "../output/documents.ts";
import type { DiscoverOptions } from "../commands/source-discover.ts";
import type { ScopeOptions } from "../options/scope-options.ts";
import { usage } from "../usage-error.ts";

const code = () => import("../commands/source.ts");

type Text =
  | "url"
  | "service"
  | "secret"
  | "caData"
  | "authHeader"
  | "timeoutSeconds"
  | "maxMetrics"
  | "maxDollars";
type TextOfAws = "awsRegion" | "role" | "externalId" | "workspace" | "maxSamples";
type Repeated = "queue" | "key" | "metricNamespace" | "account" | "header" | "parameter";

interface PutOptions
  extends ScopeOptions,
    Readonly<Partial<Record<Text | TextOfAws, string>>>,
    Readonly<Partial<Record<Repeated, readonly string[]>>> {
  readonly kind: NewSource["kind"];
  readonly scheme: SourceService["scheme"];
  readonly search?: true;
  readonly auth?: SourceAuth["kind"];
  readonly authService?: SignedService;
  readonly forCluster: readonly string[];
  readonly forNamespace: readonly string[];
  readonly private?: true;
  readonly partialAnswers?: true;
}

type CheckSourceOptions = ScopeOptions &
  SourceQuestion & { readonly cluster?: string; readonly output: "table" | DocumentFormat };

/** `tidemark source …`: where metrics come from that no cluster serves. */
export const sourceCommands = (
  parent: Command,
  run: CommandRun,
  { io, printer }: { readonly io: CommandIo; readonly printer: Printer },
): void => {
  withTarget(parent.command("put"))
    .description("register a metric source, or replace the one of this name")
    .argument("<name>")
    .addOption(
      new Option("--kind <kind>", "what it is").choices(SOURCE_KINDS).default("prometheus"),
    )
    .option(
      "--service <namespace/name:port[/path]>",
      "a service of each cluster, asked through the API server of the cluster",
    )
    .addOption(
      new Option("--scheme <scheme>", "how the API server calls the service")
        .choices(SERVICE_SCHEMES)
        .default("http"),
    )
    .option("--url <url>", "its address, where it is no service of the clusters")
    .option("--ca-data <base64>", "the authority of its certificate, where it has one of its own")
    .option("--aws-region <region>", "the Region of AWS, for sqs, amp, cloudwatch and --auth sigv4")
    .option(
      "--role <arn>",
      "the role that is assumed, named STACK-source-NAME, for sqs, amp, cloudwatch and --auth sigv4",
    )
    .option("--external-id <id>", "the ExternalId that the trust of the role asks for")
    .option("--workspace <id>", "the workspace of amp: ws-1a2b3c")
    .option(
      "--max-samples <count>",
      "samples that one question to amp may process (default: 1000000)",
    )
    .option(
      "--queue <pattern>",
      "queues that may be counted: orders, 'orders-*' or ACCOUNT/PATTERN; repeatable",
      repeatable,
    )
    .option(
      "--key <pattern>",
      "keys of a Redis that may be counted: 'jobs:*', or 'db3/jobs:*' of database 3; repeatable",
      repeatable,
    )
    .option(
      "--metric-namespace <pattern>",
      "namespaces of CloudWatch that may be asked: AWS/SQS or 'AWS/*'; repeatable",
      repeatable,
    )
    .option(
      "--account <id>",
      "accounts whose CloudWatch metrics may be asked beside the metrics of the account of the role; repeatable",
      repeatable,
    )
    .option(
      "--search",
      "expressions of CloudWatch may find their own series (SEARCH, SELECT), in any namespace and at any cost",
    )
    .requiredOption(
      "--for-cluster <pattern>",
      "clusters that may ask it: eu-1, 'prod-*' or '*'; repeatable",
      repeatable,
    )
    .requiredOption(
      "--for-namespace <pattern>",
      "namespaces whose autoscalers may name it; repeatable",
      repeatable,
    )
    .addOption(
      new Option(
        "--auth <kind>",
        "how it is asked: with a secret, or signed by the role (sigv4)",
      ).choices(AUTH_KINDS),
    )
    .option("--secret <id>", "the secret in Secrets Manager, named FOLDER/source.NAME")
    .option("--auth-header <name>", "the header of --auth header")
    .addOption(
      new Option(
        "--auth-service <service>",
        "the service of AWS that guards the address, for --auth sigv4",
      ).choices(SIGNED_SERVICE_NAMES),
    )
    .option("--header <name=value>", "a fixed header, such as a tenant; repeatable", repeatable)
    .option("--parameter <name=value>", "a fixed parameter; repeatable", repeatable)
    .option("--timeout-seconds <seconds>", "time limit of one question, 1 to 10 (default: 3)")
    .option("--max-metrics <count>", "different questions of one sync at most (default: 1000)")
    .option("--max-dollars <dollars>", "of AWS: dollars a month of a partition (default: 500)")
    .option("--private", "its address may be in a private network, and be asked without TLS")
    .option(
      "--partial-answers",
      "of a prometheus: answers with warnings count, from which a store may be missing",
    )
    .addHelpText(
      "after",
      example(
        "tidemark source put main --service monitoring/prometheus:9090 --for-cluster '*' --for-namespace '*'",
        "tidemark source put shop --url https://mimir.example.com/prometheus --header x-scope-orgid=shop --for-cluster 'prod-*' --for-namespace shop --auth bearer --secret tidemark-prod/source.shop",
      ),
    )
    .action((name: string, options: PutOptions) =>
      run.edit(options, async (...opened) =>
        (await code()).put(...opened, newSource(name, options)),
      ),
    );
  withTarget(parent.command("list"))
    .description("list the registered sources")
    .addOption(output(["table", "json", "yaml"]))
    .addHelpText("after", example("tidemark source list"))
    .action((options: TableOptions) =>
      run.show(options, async (...opened) => (await code()).list(...opened, options.output)),
    );
  withTarget(parent.command("status"))
    .description(
      "show what the newest syncs got from each source, its last error, and what asking it costs",
    )
    .addOption(output(["table", "json", "yaml"]))
    .addHelpText("after", example("tidemark source status", "tidemark source status -o json"))
    .action((options: TableOptions) =>
      run.show(options, async (...opened) =>
        (await import("../commands/source-use.ts")).sourceStatus(...opened, options.output),
      ),
    );
  withTarget(parent.command("describe"))
    .description("show a source with all of its fields")
    .argument("<name>")
    .addOption(output(["yaml", "json"]))
    .addHelpText("after", example("tidemark source describe main"))
    .action((name: string, options: ScopeOptions & { readonly output: DocumentFormat }) =>
      run.show(options, async (...opened) =>
        (await code()).describe(...opened, name, options.output),
      ),
    );
  withTarget(parent.command("check"))
    .description(
      "ask a source from where the syncs ask it, and say what to do where it does not answer",
    )
    .argument("<name>")
    .option(
      "--cluster <cluster>",
      "ask it for this cluster; a service of the clusters is otherwise asked in each",
    )
    .option("--query <promql>", "of a Prometheus: what to ask (default: vector(1))")
    .option("--path <path>", "of http: the path of the document")
    .option("--pointer <pointer>", "of http: the JSON Pointer to a number in it")
    .option("--queue <name>", "of sqs: a queue that it allows; of redis: a key")
    .addOption(output(["table", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark source check main",
        "tidemark source check main --cluster eu-1 --query 'sum(rate(http_requests_total[2m]))'",
      ),
    )
    .action(
      (name: string, { cluster, query, path, pointer, queue, ...options }: CheckSourceOptions) =>
        run(
          { ...options, ...(cluster !== undefined && { cluster }) },
          showsOf(options.output),
          async (...opened) =>
            (await code()).check(
              ...opened,
              { name, ...present({ cluster, query, path, pointer, queue }) },
              options.output,
            ),
        ),
    );
  parent
    .command("discover")
    .description(
      "print a source put for each server, Region, tenant and authentication that the ScaledObjects of files or of a cluster ask, with your own rights; no Secret is read",
    )
    .option(
      "-f, --filename <file>",
      "file or folder, - for standard input; repeatable",
      repeatable,
      [],
    )
    .option("-R, --recursive", "also the folders below")
    .option("--kubeconfig <file>", "your kubeconfig for the cluster")
    .option("--context <context>", "context of the kubeconfig")
    .option("-n, --namespace <namespace>", "only the ScaledObjects of this namespace")
    .option(
      "--for-cluster <pattern>",
      "clusters that may ask the sources; repeatable (default: *)",
      repeatable,
    )
    .addOption(output(["commands", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark source discover --kubeconfig ~/.kube/config",
        "tidemark source discover -R -f keda/ --for-cluster 'prod-*'",
      ),
    )
    .action(async ({ forCluster = ["*"], ...options }: Partial<DiscoverOptions>) =>
      (await import("../commands/source-discover.ts")).discover(
        printer,
        { ...options, forCluster } as DiscoverOptions,
        io,
      ),
    );
  withTarget(parent.command("delete"))
    .description(
      "forget a source; metrics that name it are then missing, and their workloads keep their count",
    )
    .argument("<name>")
    .addHelpText("after", example("tidemark source delete main"))
    .action((name: string, options: ScopeOptions) =>
      run.edit(options, async (...opened) => (await code()).remove(...opened, name)),
    );
};

/** Reads the options of `source put`. Throws usage errors that name the option. */
const newSource = (name: string, options: PutOptions): NewSource => ({
  name,
  kind: options.kind,
  ...present({
    url: options.url,
    service: options.service === undefined ? undefined : serviceIn(options.service, options.scheme),
    caData: options.caData,
    aws: awsOf(options),
    auth: authOf(options),
    headers: options.header && pairsIn("--header", options.header),
    parameters: options.parameter && pairsIn("--parameter", options.parameter),
    timeoutSeconds: numberIn(options.timeoutSeconds),
    maxMetrics: numberIn(options.maxMetrics),
    maxDollars: numberIn(options.maxDollars),
    private: options.private,
    partialAnswers: options.partialAnswers,
    keys: options.key,
  }),
  clusters: options.forCluster,
  namespaces: options.forNamespace,
});

/** The service checks it. */
const numberIn = (text: string | undefined) => (text === undefined ? undefined : Number(text));

const SERVICE = /^([^/:]+)\/([^/:]+):([^/:]+)(\/.*)?$/;

const serviceIn = (text: string, scheme: SourceService["scheme"]): SourceService => {
  const [, namespace, name, port, path = ""] = SERVICE.exec(text) ?? [];
  if (namespace === undefined || name === undefined || port === undefined)
    throw usage(
      `Cannot read --service "${text}": give NAMESPACE/NAME:PORT, such as monitoring/prometheus:9090`,
    );
  return { namespace, name, port, scheme, path };
};

const awsOf = (options: PutOptions): NewSource["aws"] => {
  const {
    awsRegion: region,
    role: roleArn,
    externalId,
    workspace,
    maxSamples,
    queue,
    metricNamespace,
    account,
    search,
  } = options;
  const questions = { queues: queue, metricNamespaces: metricNamespace, accounts: account, search };
  const others = present({ workspace, maxSamples: numberIn(maxSamples), ...questions });
  if (region !== undefined && roleArn !== undefined && externalId !== undefined)
    return { region, roleArn, externalId, ...others };
  if (Object.keys({ ...present({ region, roleArn, externalId }), ...others }).length === 0)
    return undefined;
  throw usage("Cannot reach AWS: --aws-region, --role and --external-id need each other");
};

const authOf = (options: PutOptions): SourceAuth | undefined => {
  const { auth, secret, authHeader, authService } = options;
  if (auth === "sigv4" || authService !== undefined) return signedAuthOf(options);
  if (auth === undefined && secret === undefined && authHeader === undefined) return undefined;
  if (auth === undefined || secret === undefined)
    throw usage("Cannot authenticate: --auth and --secret need each other");
  return { kind: auth, secretId: secret, ...present({ header: authHeader }) };
};

const signedAuthOf = ({ auth, secret, authHeader, authService }: PutOptions): SourceAuth => {
  if (auth !== "sigv4" || authService === undefined)
    throw usage("Cannot sign requests: --auth sigv4 and --auth-service need each other");
  if (secret === undefined && authHeader === undefined) return { kind: auth, service: authService };
  throw usage(
    "Cannot sign requests with a secret: --auth sigv4 takes neither --secret nor --auth-header, because the role signs",
  );
};

const pairsIn = (option: string, texts: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf("=");
      if (at < 1) throw usage(`Cannot read ${option} "${text}": give NAME=VALUE`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
