import { useMemo } from "preact/hooks";
import type { StatusView } from "../../../answers/views/status.ts";
import type { OverrideView } from "../../../answers/views/holds.ts";
import { overrideText } from "../../../answers/words/bounds-words.ts";
import type { FleetRow } from "./fleet-rows.ts";
import { AUTOSCALER_SHAPES, CLUSTER_SHAPES, Mark } from "../parts/mark.tsx";
import { Ago, Sentence } from "../parts/time.tsx";
import { useNow } from "../data/facts.ts";

type Shape = Parameters<typeof Mark>[0]["shape"];

interface Need {
  readonly shape: Shape;
  readonly message: string;
  readonly next?: string;
  readonly since?: string;
  /** What the table shows of it: a search. */
  readonly search?: string;
}

/** The rows that a problem of the status is about. */
const SEARCHES: Readonly<Partial<Record<StatusView["problems"][number]["kind"], string>>> = {
  "at max": "reason:toomanyreplicas",
  failing: "state:failing",
  forbidden: "state:forbidden",
  refused: "reason:failedupdatescale",
  unmeasured: "is:unmeasured",
  "rule failed": "reason:rulefailed",
};

const SHOWN_MAX = 6;

/** What needs a person, the most severe first, each one click away. */
export const Needs = ({
  status,
  rows,
  onSearch,
}: {
  readonly status: StatusView;
  readonly rows: readonly FleetRow[];
  readonly onSearch: (search: string) => void;
}) => {
  const swinging = useMemo(
    () => rows.filter(({ reason }) => reason === "FlapBudget").length,
    [rows],
  );
  const all = needsOf(status, swinging, useNow());
  if (all.length === 0)
    return (
      <p class="calm">
        <Mark shape={AUTOSCALER_SHAPES.active} /> Nothing needs a person.
      </p>
    );
  return (
    <section class="needs" aria-label="What needs a person">
      <h2>Needs a person</h2>
      <ul>
        {all.slice(0, SHOWN_MAX).map(({ shape, message, next, since, search }) => (
          <li key={message}>
            <Mark shape={shape} />
            <span class="message">
              <Sentence>{message}</Sentence>
              {since !== undefined && (
                <span class="quiet">
                  {" "}
                  · <Ago at={since} />
                </span>
              )}
            </span>
            {search === undefined ? (
              <span />
            ) : (
              <button type="button" class="button" onClick={() => onSearch(search)}>
                Show
              </button>
            )}
            {next !== undefined && <span class="next">{next}</span>}
          </li>
        ))}
      </ul>
      {all.length > SHOWN_MAX && (
        <p class="calm">and {all.length - SHOWN_MAX} more: tidemark status</p>
      )}
    </section>
  );
};

/** The rows of its place: a row says that it is overridden from the next sync on only. */
const searchOfOverride = ({ cluster, namespace, name }: OverrideView): string => {
  if (cluster === undefined) return "is:overridden";
  if (name !== undefined) return `${cluster}/${namespace}/${name}`;
  return `cluster:${cluster}${namespace === undefined ? "" : ` ns:${namespace}`}`;
};

const needsOf = (
  { frozen, problems, notices = [], paused, overrides }: StatusView,
  /** Autoscalers that have used their flap budget. */
  swinging: number,
  nowMs: number,
): readonly Need[] => {
  const ofProblem =
    (shape: Shape) =>
    ({ kind, message, next }: StatusView["problems"][number]): Need => {
      const search = SEARCHES[kind];
      return { shape, message, next, ...(search !== undefined && { search }) };
    };
  return [
    ...(frozen
      ? [
          {
            shape: AUTOSCALER_SHAPES.frozen,
            message: `The fleet was frozen by ${frozen.by}: ${frozen.reason}`,
            next: "tidemark fleet thaw",
            since: frozen.at,
          },
        ]
      : []),
    ...problems.map(ofProblem(AUTOSCALER_SHAPES.failing)),
    ...notices.map(ofProblem(CLUSTER_SHAPES["partly failing"])),
    ...(swinging > 0
      ? [
          {
            shape: CLUSTER_SHAPES["partly failing"],
            message: `${swinging} swing: they have used their flap budget`,
            search: "reason:flapbudget",
          },
        ]
      : []),
    ...paused.clusters.map(({ name, by, at }) => ({
      shape: AUTOSCALER_SHAPES.paused,
      message: `Cluster ${name} was paused by ${by}`,
      since: at,
      search: `cluster:${name}`,
    })),
    ...paused.autoscalers.map(({ cluster, namespace, name, by, at }) => ({
      shape: AUTOSCALER_SHAPES.paused,
      message: `${cluster}/${namespace}/${name} was paused by ${by}`,
      since: at,
      search: `${cluster}/${namespace}/${name}`,
    })),
    ...(overrides?.active ?? []).map((override) => ({
      shape: AUTOSCALER_SHAPES.held,
      message: overrideText(override, nowMs),
      search: searchOfOverride(override),
    })),
  ];
};
