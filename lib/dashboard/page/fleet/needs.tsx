import { useMemo, useState } from "preact/hooks";
import type { StatusView } from "../../../answers/views/status.ts";
import type { OverrideView } from "../../../answers/views/holds.ts";
import { overrideText } from "../../../answers/words/bounds-words.ts";
import type { FleetRow } from "./fleet-rows.ts";
import { AUTOSCALER_SHAPES, CLUSTER_SHAPES, Mark } from "../parts/mark.tsx";
import { plural } from "../parts/plural.ts";
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

/** The rows that a problem of the status is about, among the rows of its cluster. */
const SEARCHES: Readonly<Partial<Record<StatusView["problems"][number]["kind"], string>>> = {
  "at max": "reason:toomanyreplicas",
  forbidden: "state:forbidden",
  refused: "reason:failedupdatescale",
  unmeasured: "is:unmeasured",
  "rule failed": "reason:rulefailed",
};

/** Before the others are asked for, so that the table begins on the first screen. */
const SHOWN_AT_FIRST = 6;

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
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? all : all.slice(0, SHOWN_AT_FIRST);
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
        {shown.map(({ shape, message, next, since, search }) => (
          <li key={`${message} ${search}`}>
            <Mark shape={shape} />
            <span class="message" title={message}>
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
      {all.length > SHOWN_AT_FIRST && (
        <button
          type="button"
          class="button all"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? "Show fewer" : `Show ${all.length - SHOWN_AT_FIRST} more`}
        </button>
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
    ({ kind, message, next, cluster }: StatusView["problems"][number]): Need => {
      const search = [cluster === undefined ? [] : `cluster:${cluster}`, SEARCHES[kind] ?? []];
      const text = search.flat().join(" ");
      return { shape, message, next, ...(text !== "" && { search: text }) };
    };
  return [
    ...(frozen
      ? [
          {
            shape: AUTOSCALER_SHAPES.frozen,
            message: `The fleet was frozen by ${frozen.by}: ${frozen.reason}`,
            next: "tidemark fleet thaw",
            since: frozen.at,
            search: "state:frozen",
          },
        ]
      : []),
    ...problems.map(ofProblem(AUTOSCALER_SHAPES.failing)),
    ...notices.map(ofProblem(CLUSTER_SHAPES["partly failing"])),
    ...(swinging > 0
      ? [
          {
            shape: CLUSTER_SHAPES["partly failing"],
            message: `${plural(swinging, "autoscaler")} used up the flap budget`,
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
    ...moreOf(paused.more, AUTOSCALER_SHAPES.paused, "paused"),
    ...(overrides?.active ?? []).map((override) => ({
      shape: AUTOSCALER_SHAPES.held,
      message: overrideText(override, nowMs),
      search: searchOfOverride(override),
    })),
    ...moreOf(overrides?.more ?? 0, AUTOSCALER_SHAPES.held, "overridden"),
  ];
};

/** Those that the status counts and does not list. */
const moreOf = (more: number, shape: Shape, trait: string): readonly Need[] =>
  more === 0 ? [] : [{ shape, message: `${more} more ${trait}`, search: `is:${trait}` }];
