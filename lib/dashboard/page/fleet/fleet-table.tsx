import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { loadOfTexts } from "../../../stack/report/metric-reading.ts";
import { stateWords } from "../../../answers/words/state-words.ts";
import { CountBar, LoadBar } from "../parts/measure.tsx";
import { AUTOSCALER_SHAPES, Mark } from "../parts/mark.tsx";
import { Ago } from "../parts/time.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { autoscalerLink } from "../route.ts";
import { useKeys } from "../use-keys.ts";
import type { Order, Sort } from "./filter-rows.ts";
import { boundsOf, type FleetRow } from "./fleet-rows.ts";
import { SparklinePicture } from "./sparkline.tsx";
import { type Sparkline, useSparklines } from "./use-sparklines.ts";

const ROW_PX = 46;
const NARROW_ROW_PX = 64;
/** As in fleet.css, where rows have two lines. */
const NARROW = "(max-width: 700px)";

const HEADS: readonly { readonly name: string; readonly sort?: Sort; readonly part: string }[] = [
  { name: "State", sort: "attention", part: "state" },
  { name: "Autoscaler", sort: "name", part: "name" },
  { name: "Load ÷ target", part: "load" },
  { name: "Replicas in bounds", sort: "replicas", part: "replicas" },
  { name: "Count and load, 1 h", part: "spark-cell" },
  { name: "Last reason", sort: "reason", part: "reason" },
  { name: "Scaled", sort: "scaled", part: "scaled" },
  { name: "Owner", sort: "owner", part: "owner" },
];

/** Whether a media query holds, also after the window was made smaller or turned. */
const useMatches = (query: string): boolean => {
  const media = useMemo(() => matchMedia(query), [query]);
  const [matches, setMatches] = useState(media.matches);
  useEffect(() => {
    const onChange = (): void => setMatches(media.matches);
    media.addEventListener("change", onChange);
    return () => media.removeEventListener("change", onChange);
  }, [media]);
  return matches;
};

/** The autoscalers as a table of any length. `j` and `k` go from row to row, Enter opens one. */
export const FleetTable = ({
  rows,
  hasOwners,
  order,
  onOrder,
}: {
  readonly rows: readonly FleetRow[];
  /** False where no autoscaler of the fleet names an owner: then nothing is shown of owners. */
  readonly hasOwners: boolean;
  readonly order: Order;
  readonly onOrder: (order: Order) => void;
}) => {
  const [shown, setShown] = useState<readonly [number, number]>([0, 0]);
  const box = useRef<HTMLDivElement>(null);
  const isNarrow = useMatches(NARROW);
  const lines = useSparklines(rows.slice(shown[0], shown[1] + 1).map(({ key }) => key));
  useKeys({ j: () => moveFocus(box.current, 1), k: () => moveFocus(box.current, -1) });
  return (
    <div
      class={hasOwners ? "table" : "table ownerless"}
      role="table"
      aria-label="Autoscalers"
      aria-rowcount={rows.length + 1}
      ref={box}
    >
      <div role="rowgroup">
        <div class="row heads" role="row" aria-rowindex={1}>
          {HEADS.filter(({ part }) => hasOwners || part !== "owner").map(({ name, sort, part }) => (
            <div
              key={name}
              role="columnheader"
              class={part}
              aria-sort={
                sort === order.by ? (order.isDown ? "descending" : "ascending") : undefined
              }
            >
              {sort === undefined ? (
                name
              ) : (
                <button
                  type="button"
                  onClick={() =>
                    onOrder({ by: sort, isDown: sort === order.by ? !order.isDown : false })
                  }
                >
                  {name}
                  {sort === order.by && (
                    <span aria-hidden="true">{order.isDown ? " ↓" : " ↑"}</span>
                  )}
                </button>
              )}
            </div>
          ))}
        </div>
      </div>
      <VirtualList
        count={rows.length}
        rowHeight={isNarrow ? NARROW_ROW_PX : ROW_PX}
        onShown={(first, last) => setShown([first, last])}
      >
        {(index, top) => {
          const row = rows[index];
          return (
            row && (
              <Line
                key={row.key}
                row={row}
                hasOwner={hasOwners}
                index={index}
                top={top}
                line={lines.get(row.key)}
              />
            )
          );
        }}
      </VirtualList>
    </div>
  );
};

const moveFocus = (box: HTMLElement | null, by: 1 | -1): void => {
  const links = [...(box?.querySelectorAll<HTMLAnchorElement>(".line a") ?? [])].sort(
    (one, other) => Number(one.dataset["index"]) - Number(other.dataset["index"]),
  );
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  const next = links[at === -1 ? 0 : at + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
};

interface LineOf {
  readonly row: FleetRow;
  readonly hasOwner: boolean;
  readonly index: number;
  readonly top: number;
  readonly line: Sparkline | undefined;
}

/** A line that shows the same is not compared again: a scroll or an answer draws the whole table. */
const Line = (of: LineOf) => useMemo(() => lineOf(of), Object.values(of));

const lineOf = ({ row, hasOwner, index, top, line }: LineOf) => (
  <div
    class="row line"
    role="row"
    aria-rowindex={index + 2}
    style={{ transform: `translateY(${top}px)` }}
  >
    <div class="state" role="cell">
      <Mark shape={AUTOSCALER_SHAPES[row.state]} />
      <span>{stateWords(row)}</span>
    </div>
    <div class="name" role="cell">
      <a href={autoscalerLink(row)} data-index={index} title={row.name}>
        {row.name}
      </a>
      <small>
        {row.cluster} / {row.namespace}
      </small>
    </div>
    <div class="cell load" role="cell">
      <Load row={row} />
    </div>
    <div class="cell replicas" role="cell">
      <Replicas row={row} />
    </div>
    <div class="spark-cell" role="cell">
      {line && <SparklinePicture {...line} />}
    </div>
    <div class="cell reason" role="cell" title={row.reason}>
      {row.reason ?? "no decision yet"}
    </div>
    <div class="scaled" role="cell">
      {row.lastScaleAt === undefined ? "never" : <Ago at={row.lastScaleAt} />}
    </div>
    {hasOwner && (
      <div class="owner" role="cell">
        {row.owner ?? ""}
      </div>
    )}
  </div>
);

const Load = ({
  row: { targets, moreTargets, missingMetrics = 0 },
}: {
  readonly row: FleetRow;
}) => {
  const load = loadOfTexts(targets);
  const text = `${targets.join(", ")}${moreTargets === undefined ? "" : ` + ${moreTargets} more`}`;
  return (
    <>
      {load !== undefined && <LoadBar load={load} />}
      <small title={text}>
        {missingMetrics > 0 && <b class="warn">{missingMetrics} missing · </b>}
        {text}
      </small>
    </>
  );
};

const Replicas = ({ row }: { readonly row: FleetRow }) => {
  const { currentReplicas, lastKnown, desiredReplicas } = row;
  const count = currentReplicas ?? lastKnown?.replicas;
  const { min, max } = boundsOf(row);
  return (
    <>
      {count !== undefined && min !== undefined && max !== undefined && (
        <CountBar count={count} min={min} max={max} />
      )}
      <small>
        <b>{count ?? "unknown"}</b>
        {currentReplicas === undefined && count !== undefined && " when last read"}
        {desiredReplicas !== undefined &&
          desiredReplicas !== currentReplicas &&
          ` → ${desiredReplicas}`}
        {min !== undefined && max !== undefined && ` of ${min}–${max}`}
      </small>
    </>
  );
};
