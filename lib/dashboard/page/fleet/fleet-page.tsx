import { useEffect, useMemo, useRef } from "preact/hooks";
import type { AutoscalerState } from "../../../answers/views/autoscaler.ts";
import type { StatusView } from "../../../answers/views/status.ts";
import { useDocument } from "../data/use-document.ts";
import { FREEZE, THAW } from "../edits/edit.ts";
import { Edits } from "../edits/edits.tsx";
import { AUTOSCALER_SHAPES, Mark } from "../parts/mark.tsx";
import { FailureNotice, Loading, Notice } from "../parts/notice.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { plural } from "../parts/plural.ts";
import type { Route } from "../route.ts";
import { useKeys } from "../use-keys.ts";
import { setParameters } from "../use-route.ts";
import {
  filterRows,
  makeTexts,
  orderText,
  readOrder,
  readSearch,
  SEARCH_FIELDS,
  sortRows,
  withField,
} from "./filter-rows.ts";
import type { FleetRow } from "./fleet-rows.ts";
import { FleetTable } from "./fleet-table.tsx";
import { Needs } from "./needs.tsx";
import { useRows } from "./use-rows.ts";

/** Every autoscaler that the caller may look at. Search and order are in the address. */
export const FleetPage = ({ route }: { readonly route: Route }) => {
  const { value: rows, failure, isPart } = useRows();
  const { value: status } = useDocument<StatusView>("/v1/status");
  if (!rows)
    return (
      <>
        <PageHead title="Fleet" />
        {failure ? <FailureNotice failure={failure} /> : <Loading lines={12} />}
      </>
    );
  return (
    <>
      {failure && failure.kind !== "offline" && <FailureNotice failure={failure} />}
      <Fleet route={route} rows={rows} isPart={isPart} status={status} />
    </>
  );
};

const Fleet = ({
  route,
  rows,
  isPart,
  status,
}: {
  readonly route: Route;
  readonly rows: readonly FleetRow[];
  /** True while there are rows to come. */
  readonly isPart: boolean;
  readonly status: StatusView | undefined;
}) => {
  const { q = "", sort } = route.parameters;
  const order = readOrder(sort);
  const shown = useMemo(() => filterRows(rows, readSearch(q)), [rows, q]);
  const sorted = useMemo(() => sortRows(shown, order), [shown, sort]);
  const input = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => input.current?.focus() });
  const search = (text: string): void => setParameters(route, { q: text });
  const clusters = useMemo(() => new Set(rows.map(({ cluster }) => cluster)).size, [rows]);
  const hasOwners = useMemo(() => rows.some(({ owner }) => owner !== undefined), [rows]);
  // It is the same for each letter of a search.
  const needs = useMemo(
    () => status && <Needs status={status} rows={rows} onSearch={search} />,
    [status, rows, sort],
  );
  // After the rows are drawn, so that the first letter of a search finds the texts made.
  useEffect(() => makeTexts(rows), [rows]);
  return (
    <>
      <PageHead
        title="Fleet"
        count={`${plural(rows.length, "autoscaler")} in ${plural(clusters, "cluster")}${isPart ? " so far" : ""}`}
      >
        {status && <Edits edits={[status.frozen ? THAW : FREEZE]} hasKey />}
      </PageHead>
      {needs}
      <div class="tools">
        <input
          ref={input}
          type="search"
          aria-label="Search the autoscalers"
          placeholder={`Search, or ${SEARCH_FIELDS.slice(0, 3).join(":  ")}:   ( / )`}
          value={q}
          onInput={({ currentTarget }) => search(currentTarget.value)}
        />
        <Chips rows={rows} search={q} onSearch={search} />
        <span class="quiet" role="status">
          {shown.length === rows.length ? "" : `${shown.length} of ${rows.length}`}
        </span>
      </div>
      {sorted.length > 0 && (
        <FleetTable
          rows={sorted}
          hasOwners={hasOwners}
          order={order}
          onOrder={(next) => setParameters(route, { sort: orderText(next) })}
        />
      )}
      {sorted.length === 0 && isPart && <Loading lines={12} />}
      {rows.length === 0 && !isPart && (
        <Notice title="There is no autoscaler yet">
          <p>
            Apply a manifest, and it is here after the next sync:{" "}
            <code>tidemark apply -f FILE</code>. A caller with grants sees only what they show.
          </p>
        </Notice>
      )}
      {rows.length > 0 && sorted.length === 0 && !isPart && (
        <Notice title="No autoscaler is like this">
          <p>
            <button type="button" class="button" onClick={() => search("")}>
              Clear the search
            </button>
          </p>
        </Notice>
      )}
    </>
  );
};

const STATES = Object.keys(AUTOSCALER_SHAPES) as AutoscalerState[];

/** How many are in each state; a press shows only these. */
const Chips = ({
  rows,
  search,
  onSearch,
}: {
  readonly rows: readonly FleetRow[];
  readonly search: string;
  readonly onSearch: (search: string) => void;
}) => {
  const states = useMemo(() => Map.groupBy(rows, ({ state }) => state), [rows]);
  return (
    <div class="chips">
      {STATES.filter((state) => states.has(state)).map((state) => (
        <button
          key={state}
          type="button"
          class="button"
          aria-pressed={search.split(/\s+/).includes(`state:${state}`)}
          onClick={() => onSearch(withField(search, "state", state))}
        >
          <Mark shape={AUTOSCALER_SHAPES[state]} />
          {state} <b>{states.get(state)?.length}</b>
        </button>
      ))}
    </div>
  );
};
