import { join } from "node:path";
import { instantText } from "../../stack/report/instant-text.ts";
import { CLUSTER_KUBECONFIG, dataOption, type FolderLayout } from "../layout.ts";
import { shellWord } from "../../stack/report/shell-word.ts";
import { readManifests } from "../../rules/manifest/documents.ts";
import { passedOverText } from "../../rules/manifest/errors.ts";
import { asObject, asText } from "../../rules/model/json.ts";
import { unservedTriggers } from "./keda-stand-in.ts";
import { isScaledObject, otherKindsBeside } from "./manifest-files.ts";
import { replicasInFiles } from "./workload-files.ts";
import type { Applied } from "../../answers/views/autoscaler.ts";
import { durationText, speedText } from "../view/plain-view.ts";
import type { Unfinished } from "./recover.ts";
import type { Setup } from "./setup.ts";

export interface GreetingInput {
  readonly layout: FolderLayout;
  readonly setup: Setup;
  readonly nowMs: number;
  readonly speed: number;
  readonly recovered: number;
  readonly unfinished: Unfinished;
  readonly applied: readonly Applied[];
  readonly cluster: string;
  readonly seriesUrl: string;
  readonly pageUrl: string;
  /** With --wake-port. */
  readonly wakeUrl?: string | undefined;
}

/** The first lines of a run: its cluster, its folder, and the manifests that it applied. */
export const greetingLines = (input: GreetingInput): readonly string[] => [
  `See every count and why it is so: ${input.pageUrl}`,
  input.setup.resumed ? resumed(input) : begun(input),
  `Series for Prometheus at ${input.seriesUrl}`,
  ...(input.wakeUrl === undefined ? [] : [`Wakes are taken at ${input.wakeUrl}`]),
  ...besideLines(input),
  ...passedOverLines(input),
  ...appliedLines(input.applied),
];

/** What else the files hold, as `apply` says it: a ScaledObject that nobody follows is a surprise. */
const passedOverLines = ({ setup: { identity, manifests } }: GreetingInput): readonly string[] => {
  const beside = identity.kind === "simulated" ? identity.beside : undefined;
  const others = otherKindsBeside(beside);
  const read = manifests.flatMap(({ file, text }) =>
    readManifests(text, file, { otherKinds: others, repeatedKeys: "keep" }),
  );
  const counts = others.counts();
  return [
    ...(counts.length > 0 ? [passedOverText(counts)] : []),
    ...(identity.kind === "simulated" ? countsText(replicasInFiles(manifests)) : []),
    ...(beside === "keda" ? read.flatMap(({ document }) => unservedText(document)) : []),
  ];
};

const COUNTS_SHOWN = 5;

/** What the run takes of the workloads in the files: the count that each begins with. */
const countsText = (counts: ReadonlyMap<string, number>): readonly string[] => {
  if (counts.size === 0) return [];
  const shown = [...counts].slice(0, COUNTS_SHOWN).map(([key, count]) => `${key} ${count}`);
  const more = counts.size > COUNTS_SHOWN ? ` and ${counts.size - COUNTS_SHOWN} more` : "";
  return [`of the workloads in the files the run takes spec.replicas: ${shown.join(", ")}${more}`];
};

/** KEDA would keep a count at these times, which the stand-in does not. */
const unservedText = (document: unknown): readonly string[] => {
  if (!isScaledObject(document)) return [];
  const unserved = unservedTriggers(document);
  const { namespace = "default", name } = asObject(document["metadata"]);
  return unserved.length === 0
    ? []
    : [
        `note: the stand-in of KEDA does not serve ${unserved.join(", ")} of ScaledObject ${asText(namespace)}/${asText(name)}: it scales by the other triggers only`,
      ];
};

const CONTROLLER = {
  hpa: "the HPA controller",
  wpa: "the Watermark Pod Autoscaler",
  keda: "KEDA",
} as const;

/** What a person does first beside another controller. */
const besideLines = ({
  setup: { identity, resumed: isResumed },
  cluster,
  layout,
}: GreetingInput): readonly string[] => {
  if (identity.kind !== "simulated" || identity.beside === undefined) return [];
  const line = `Beside a stand-in of ${CONTROLLER[identity.beside]}; the kubeconfig of the cluster is ${shellWord(join(layout.cluster, CLUSTER_KUBECONFIG))}`;
  return isResumed
    ? [line]
    : [
        line,
        `To import its objects: npx tidemark import --cluster ${cluster} --apply${dataOption(layout.named)}`,
      ];
};

/**
 * More are counted, so that the lines of the run itself stay in sight. Warnings are all printed.
 */
const APPLIED_NAMED_MAX = 100;

const appliedLines = (applied: readonly Applied[]): readonly string[] => {
  if (applied.length <= APPLIED_NAMED_MAX)
    return applied.flatMap(({ namespace, name, outcome, warnings }) => [
      `${namespace}/${name} ${outcome}`,
      ...warnings,
    ]);
  const counted = [...Map.groupBy(applied, ({ outcome }) => outcome)]
    .map(([outcome, { length }]) => `${length} ${outcome}`)
    .join(", ");
  return [
    `${applied.length} autoscalers: ${counted}`,
    ...applied.flatMap(({ warnings }) => warnings),
  ];
};

const begun = ({
  layout,
  setup: { identity, manifests },
  nowMs,
  speed,
  cluster,
}: GreetingInput): string => {
  if (identity.kind === "simulated") {
    return `Began at ${instantText(nowMs)} virtual time, seed ${identity.seed}, at most ${speedText(speed)}, in "${layout.dir}"`;
  }
  const hint =
    manifests.length === 0
      ? `; it scales nothing until you apply a manifest: npx tidemark apply -f FILE${dataOption(layout.named)}`
      : "";
  return `Began on cluster "${cluster}" in real time, in "${layout.dir}"${hint}`;
};

const resumed = ({
  layout,
  setup: { identity },
  nowMs,
  recovered,
  unfinished,
  cluster,
}: GreetingInput): string => {
  const where =
    identity.kind === "simulated"
      ? `Resumed at ${instantText(nowMs)} virtual time, ${durationText(nowMs - identity.startMs)} after the beginning`
      : `Resumed on cluster "${cluster}" in real time`;
  const recoveries = [
    ...(recovered > 0
      ? [
          plural(
            recovered,
            "unfinished sync is delivered again",
            "unfinished syncs are delivered again",
          ),
        ]
      : []),
    ...(unfinished.reached > 0
      ? [
          plural(
            unfinished.reached,
            "scale that was under way is settled",
            "scales that were under way are settled",
          ),
        ]
      : []),
  ];
  return `${where}, in "${layout.dir}"${recoveries.length > 0 ? `; ${recoveries.join(", ")}` : ""}`;
};

const plural = (count: number, singular: string, many: string): string =>
  `${count} ${count === 1 ? singular : many}`;
