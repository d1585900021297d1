import { isTidemarkError } from "../../model/errors.ts";

/** What kubectl calls otherwise, or does and Tidemark does not: its command, and what to call here. */
const COMMANDS: Readonly<Record<string, string>> = {
  "api-resources": "Tidemark keeps autoscalers of three types: tidemark get pa,hpa,wpa",
  annotate: "annotations are part of a manifest: tidemark edit NAME",
  check: "tidemark status looks at everything, and tidemark cluster check NAME at one cluster",
  config: "tidemark --stack NAME or --data DIR says what a command works on, and TIDEMARK_STACK says it for all",
  label: "labels are part of a manifest: tidemark edit NAME",
  log: "tidemark events NAME lists scales, and tidemark explain NAME the newest decision",
  logs: "tidemark events NAME lists scales, and tidemark explain NAME the newest decision",
  list: "tidemark get lists autoscalers, and tidemark cluster list clusters",
  ls: "tidemark get lists autoscalers",
  patch: "tidemark edit NAME, or tidemark apply -f FILE",
  rm: "tidemark delete NAME",
  rollback: "tidemark handback NAME gives an autoscaler back, and tidemark changes NAME -o json has every earlier manifest",
  rollout: "tidemark changes NAME -o json has every earlier manifest, which apply stores again",
  scale: "tidemark override set NAME --pin COUNT --until 2h --reason WHY holds a count, and ends by itself",
  set: "tidemark edit NAME, or tidemark override set NAME",
  show: "tidemark describe NAME",
  top: "tidemark get -o wide has the metrics, and tidemark timeline NAME draws them",
  wait: "tidemark get NAME -w prints each change",
  watch: "tidemark get -w prints each change, and tidemark status -w the whole fleet",
  why: "tidemark explain NAME --at TIME",
};

/** Kinds that are no autoscalers of Tidemark, as kubectl writes them. */
const OTHER_KINDS = /^(po|pods?|deploy|deployments?|sts|statefulsets?|rs|replicasets?|nodes?|ns|namespaces?|svc|services?|cm|configmaps?|all)$/i;
const SOURCES = /^(metric)?sources?(\.tidemark\.dev)?$/i;
const SCALED_OBJECTS = /^(so|scaledobjects?)(\.keda\.sh)?$/i;

/** What to call here in place of a command of kubectl. */
export const commandHint = (name: string): string | undefined => COMMANDS[name];

/** What a person may have meant who asked for a kind in place of a name. */
export const kindHint = (error: unknown, args: readonly string[]): string | undefined => {
  if (!isTidemarkError(error, "service.unknown")) return undefined;
  const word = args.map((arg) => arg.split("/")[0] ?? "").find((arg) => error.message.includes(`"${arg}`) && isKind(arg));
  if (word === undefined) return undefined;
  if (SOURCES.test(word)) return "tidemark source list shows the metric sources, and tidemark source describe NAME one of them";
  if (SCALED_OBJECTS.test(word)) return "tidemark import --kubeconfig FILE carries the ScaledObjects of a cluster over";
  return `Tidemark keeps autoscalers only: kubectl get ${word}`;
};

const isKind = (word: string): boolean => [OTHER_KINDS, SOURCES, SCALED_OBJECTS].some((kind) => kind.test(word));

/** The template that prints what a format of kubectl prints that does not exist here. */
export const formatHint = (format: string): string | undefined =>
  /^(go-template(-file)?|template)(=|$)/.test(format)
    ? `a template does the same: -o jsonpath='{range .items[*]}{.metadata.name}{"\\t"}{.spec.maxReplicas}{"\\n"}{end}'`
    : undefined;
