import { workloadKey } from "../../lib/stack/sync/load/open-intents.ts";
import type { SimulatedCluster, Workload } from "./cluster.ts";
import { changeObject, changeOf } from "./objects/change-object.ts";
import type { Person } from "./people.ts";
import type { Stage } from "./stage.ts";
import { type Happening, LAST_MS, type PlannedAutoscaler } from "./timetable.ts";
import { noteOutside } from "./watch/outside.ts";

interface Editors {
  readonly owner: Person;
  readonly deputy: Person;
  readonly operator: Person;
}

/** How often the owner looks whether deputy and operator are done, before the last words. */
const LOOK_MS = 1_000;

/** The owner's last words come when the others have none left. */
const edited = (
  stage: Stage,
  editors: Editors,
  autoscaler: PlannedAutoscaler,
  { atMs, by, edit }: PlannedEditing,
): void => {
  const { owner, deputy, operator } = editors;
  if (by === "deputy") deputy.edit(autoscaler, edit);
  else if (atMs < LAST_MS || (deputy.idle() && operator.idle())) owner.edit(autoscaler, edit);
  else
    stage.scheduler.at(stage.nowMs() + LOOK_MS, () =>
      edited(stage, editors, autoscaler, { atMs, edit }),
    );
};

type PlannedEditing = Pick<Extract<Happening, { kind: "edit" }>, "atMs" | "by" | "edit">;

/** Lets one thing of the timetable happen. */
export const happen = (stage: Stage, editors: Editors, happening: Happening): void => {
  const { timetable, clusters, elsewhere } = stage;
  const autoscaler = timetable.autoscalers[happening.workload];
  if (!autoscaler) throw new RangeError("something happens to an unknown workload");
  if (happening.kind === "edit" && !isOfObject(autoscaler, happening)) {
    edited(stage, editors, autoscaler, happening);
    return;
  }
  // The same at both places, so that nothing depends on the instant at which a cluster moved.
  for (const sites of [clusters, elsewhere]) {
    const site = sites.get(autoscaler.cluster);
    if (site) happenAt(stage, site, autoscaler, happening);
  }
};

/** A manifest that a cluster holds is edited there. A pause is an edit of Tidemark. */
const isOfObject = ({ home }: PlannedAutoscaler, { edit }: PlannedEditing): boolean =>
  home !== undefined && (edit.verb === "apply" || edit.verb === "delete");

const setCount = (
  { ledger, stack }: Stage,
  cluster: SimulatedCluster,
  workload: Workload,
  replicas: number | undefined,
): void => {
  const ledgers = [ledger, ...(stack?.other ? [stack.other.ledger] : [])];
  if (replicas !== undefined && replicas !== workload.replicas)
    for (const one of ledgers) noteOutside(one, workload, replicas);
  cluster.edit(workload, replicas);
};

const happenAt = (
  stage: Stage,
  cluster: SimulatedCluster,
  autoscaler: PlannedAutoscaler,
  happening: Happening,
): void => {
  const { story, nowMs } = stage;
  const workload = cluster.workloads.get(workloadKey(autoscaler.namespace, autoscaler.target));
  if (!workload) throw new RangeError("something happens to an unknown workload");
  const tell = (words: string): void =>
    story.tell(cluster.name, `"${autoscaler.target.name}" ${words}`);
  switch (happening.kind) {
    case "load":
      tell(`has a load of ${happening.load}`);
      workload.load = happening.load;
      break;
    case "rival":
      tell(happening.there ? "has another controller" : "has no other controller any more");
      workload.rivalSinceMs = happening.there ? nowMs() : undefined;
      break;
    case "gone":
      tell("is deleted");
      workload.gone = true;
      break;
    case "made":
      tell(`is made anew with ${happening.replicas}`);
      cluster.make(workload, happening.replicas);
      break;
    case "count":
      tell(
        happening.replicas === undefined
          ? "is touched from outside"
          : `is set to ${happening.replicas} from outside`,
      );
      if (!workload.gone) setCount(stage, cluster, workload, happening.replicas);
      break;
    case "edit":
      tell(`has its object edited: ${happening.edit.verb}`);
      changeObject(cluster, changeOf(autoscaler, happening.edit), nowMs());
      break;
    case "object":
      tell(`has its objects changed: ${happening.object.verb}`);
      changeObject(cluster, happening.object, nowMs());
      break;
  }
  cluster.changed(workload);
};
