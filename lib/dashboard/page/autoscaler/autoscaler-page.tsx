import type { ComponentChildren } from "preact";
import type { Description } from "../../../answers/views/autoscaler.ts";
import { DAY_MS, HOUR_MS } from "../../../rules/model/time-text.ts";
import type { ScheduleView } from "../../../answers/views/schedule.ts";
import type { OverrideView } from "../../../answers/views/holds.ts";
import { overrideText } from "../../../answers/words/bounds-words.ts";
import { stateWords } from "../../../answers/words/state-words.ts";
import { useNow } from "../data/facts.ts";
import { type Known, useDocument, useSource } from "../data/use-document.ts";
import { isKnownEvaluated } from "../fleet/use-rows.ts";
import { AUTOSCALER_SHAPES, Mark } from "../parts/mark.tsx";
import { FailureNotice, Loading, Notice } from "../parts/notice.tsx";
import { Ago, Sentence, Time } from "../parts/time.tsx";
import { autoscalerLink, fragmentOf, type Place, type Route } from "../route.ts";
import { setParameters } from "../use-route.ts";
import { Edits } from "../edits/edits.tsx";
import { editsOf, editsOfOverride } from "../edits/edit.ts";
import { Charts } from "./charts.tsx";
import { Instant } from "./instant.tsx";
import {
  addressInstant,
  MOVING,
  parametersOf,
  PRESETS,
  type ShownRange,
  rangeOf,
  stretchOf,
} from "./range.ts";
import { CompareTab } from "./compare-tab.tsx";
import { ScheduleTab } from "./schedule-tab.tsx";
import { DoctorTab } from "./doctor-tab.tsx";
import { ConditionsTab, EditsTab, EventsTab, ManifestTab, PointsTab, WindowsTab } from "./tabs.tsx";
import { areReadStill, type ShownPast } from "./past.ts";
import { usePast } from "./use-past.ts";

const TABS = [
  { tab: "events", words: "Scale events" },
  { tab: "doctor", words: "What is wrong" },
  { tab: "edits", words: "Edits" },
  { tab: "manifest", words: "Manifest" },
  { tab: "schedule", words: "Schedule" },
  { tab: "windows", words: "Windows" },
  { tab: "conditions", words: "Conditions" },
  { tab: "compare", words: "Compare" },
  { tab: "points", words: "Table" },
] as const;
type TabName = (typeof TABS)[number]["tab"];

/** One autoscaler: its past as charts, why its count was so at any instant, and what it is. */
export const AutoscalerPage = ({ route }: { readonly route: Route }) => {
  const [cluster, namespace, name, tab] = route.path;
  if (cluster === undefined || namespace === undefined || name === undefined)
    return (
      <Notice title="The address names no autoscaler">
        <p>
          <a href={fragmentOf({ page: "fleet" })}>All autoscalers</a>
        </p>
      </Notice>
    );
  return <OfPlace route={route} place={{ cluster, namespace, name }} tab={tabOf(tab)} />;
};

const tabOf = (name: string | undefined): TabName =>
  TABS.find(({ tab }) => tab === name)?.tab ?? "events";

const OfPlace = ({
  route,
  place,
  tab,
}: {
  readonly route: Route;
  readonly place: Place;
  readonly tab: TabName;
}) => {
  const nowMs = useNow();
  const range = rangeOf(route);
  const past = usePast(place, range);
  const described = useDocument<Description>("/v1/autoscaler/description", { ...place });
  const { sinceMs: beginMs, untilMs: endMs } = stretchOf(range, nowMs);
  const schedule = useDocument<ScheduleView>(
    endMs - beginMs <= SET_LANES_MS ? "/v1/autoscaler/schedule" : undefined,
    { ...place, ...wholeHours(beginMs, endMs), next: 1 },
  );
  // So the reasons need not wait for the description.
  const wasEvaluated = isKnownEvaluated(useSource().api, place);
  const chosen = Date.parse(route.parameters["at"] ?? "");
  const atMs = Number.isNaN(chosen) ? undefined : chosen;
  // A link to an instant shows the same stretch to whoever opens it, whenever that is.
  const choose = (instantMs: number): void => {
    const { sinceMs, untilMs } = past.value ?? stretchOf(range, nowMs);
    setParameters(route, { ...parametersOf(sinceMs, untilMs), at: addressInstant(instantMs) });
  };
  const showNow = (): void => setParameters(route, { ...MOVING, at: undefined });
  // What is not there, or not for the caller, has no past, no reasons and no parts.
  if (described.failure && !described.value)
    return (
      <article class="autoscaler">
        <Head place={place} described={described} />
      </article>
    );
  return (
    <article class="autoscaler">
      <Head place={place} described={described} />
      <Presets route={route} range={range} />
      <div class="two">
        <div class="past">
          <PastCharts
            past={past}
            schedule={schedule.value}
            nowMs={nowMs}
            atMs={atMs}
            onInstant={choose}
            onNow={showNow}
            onStretch={(sinceMs, untilMs) => setParameters(route, parametersOf(sinceMs, untilMs))}
          />
        </div>
        <Instant
          place={place}
          isEvaluated={described.value ? described.value.conditions.length > 0 : wasEvaluated}
          atMs={atMs}
          onNow={showNow}
        />
        <div class="more">
          <nav class="tabs" aria-label="Parts of this autoscaler">
            {TABS.map(({ tab: other, words }) => (
              <a
                key={other}
                href={autoscalerLink(place, route.parameters, other)}
                aria-current={other === tab ? "page" : undefined}
              >
                {words}
              </a>
            ))}
          </nav>
          <TabPart place={place} tab={tab} past={past.value} described={described} nowMs={nowMs} />
        </div>
      </div>
    </article>
  );
};

/** In a longer stretch no window of a schedule could be seen. */
const SET_LANES_MS = 31 * DAY_MS;

/** Whole hours around a stretch, so that the question stays the same while it moves. */
const wholeHours = (sinceMs: number, untilMs: number) => ({
  at: new Date(Math.floor(sinceMs / HOUR_MS) * HOUR_MS).toISOString(),
  until: new Date(Math.floor(untilMs / HOUR_MS + 1) * HOUR_MS).toISOString(),
});

const searchLink = (q: string): string => fragmentOf({ page: "fleet", parameters: { q } });

const Head = ({
  place,
  described,
}: {
  readonly place: Place;
  readonly described: Known<Description>;
}) => {
  const { value, failure } = described;
  return (
    <header class="title">
      <p class="where">
        <a href={fragmentOf({ page: "fleet" })}>Fleet</a> /{" "}
        <a href={searchLink(`cluster:${place.cluster}`)}>{place.cluster}</a> /{" "}
        <a href={searchLink(`cluster:${place.cluster} ns:${place.namespace}`)}>{place.namespace}</a>
      </p>
      <h1>{place.name}</h1>
      {value && <State described={value} />}
      {value && <Edits edits={editsOf(place, value)} hasKey />}
      {value && <Overrides overrides={value.overrides ?? []} />}
      {failure && <FailureNotice failure={failure} />}
    </header>
  );
};

/** What people have set for some time, which goes before schedule and manifest. */
const Overrides = ({ overrides }: { readonly overrides: readonly OverrideView[] }) => {
  const nowMs = useNow();
  return overrides.length === 0 ? null : (
    <ul class="overrides" aria-label="Overrides">
      {overrides.map((override) => (
        <li key={override.id}>
          <Mark shape={AUTOSCALER_SHAPES.held} />
          <span>
            <b>{override.state === "ahead" ? "Override ahead" : "Override"}</b>{" "}
            <Sentence>{overrideText(override, nowMs)}</Sentence>
            {override.state === "ahead" && (
              <>
                , from <Time at={override.from} />
              </>
            )}
          </span>
          <Edits edits={editsOfOverride(override)} />
        </li>
      ))}
    </ul>
  );
};

const State = ({ described }: { readonly described: Description }) => {
  const { state, currentReplicas, desiredReplicas, minReplicas, maxReplicas, bounds, target } =
    described;
  const [min, max] = [bounds?.min.replicas ?? minReplicas, bounds?.max.replicas ?? maxReplicas];
  return (
    <ul class="about">
      <li>
        <Mark shape={AUTOSCALER_SHAPES[state]} /> {stateWords(described)}
      </li>
      <li>
        {currentReplicas === undefined ? (
          "count unknown"
        ) : (
          <>
            <b>{currentReplicas}</b>
            {desiredReplicas !== undefined &&
              desiredReplicas !== currentReplicas &&
              ` → ${desiredReplicas}`}
            {(desiredReplicas ?? currentReplicas) === 1 ? " replica" : " replicas"}
          </>
        )}
        {min !== undefined && max !== undefined && ` of ${min} to ${max}`}
      </li>
      {target && (
        <li>
          {target.kind} {target.name}
        </li>
      )}
      <li>{described.dialect} rules</li>
      {described.owner !== undefined && <li>owner {described.owner}</li>}
      {described.lastScaleAt !== undefined && (
        <li>
          scaled <Ago at={described.lastScaleAt} />
        </li>
      )}
      {described.syncedAt !== undefined && (
        <li>
          synced <Ago at={described.syncedAt} />
        </li>
      )}
    </ul>
  );
};

const Presets = ({ route, range }: { readonly route: Route; readonly range: ShownRange }) => (
  <fieldset class="presets">
    <legend class="unseen">Stretch of time</legend>
    {PRESETS.map(({ name, words }) => (
      <button
        key={name}
        type="button"
        class="button"
        aria-pressed={"name" in range && range.name === name}
        onClick={() => setParameters(route, { ...MOVING, at: undefined, range: name })}
      >
        {words}
      </button>
    ))}
    {"sinceMs" in range && <span class="zoomed">a chosen stretch</span>}
    <span class="hint">Press to explain an instant, drag to look closer, arrow keys to step.</span>
  </fieldset>
);

const PastCharts = ({
  past: { value, failure },
  ...props
}: Omit<Parameters<typeof Charts>[0], "past"> & { readonly past: Known<ShownPast> }) => (
  <>
    {failure && <FailureNotice failure={failure} />}
    {areReadStill(value) && !failure && <Loading lines={10} />}
    {value && value.points.length === 0 && !areReadStill(value) && (
      <Notice title="Nothing was evaluated in this stretch">
        <p>Evaluations are kept for 14 days, and samples of five minutes for 13 months.</p>
      </Notice>
    )}
    {value && value.points.length > 0 && <Charts past={value} {...props} />}
  </>
);

interface TabProps {
  readonly place: Place;
  readonly tab: TabName;
  readonly past: ShownPast | undefined;
  readonly described: Known<Description>;
  readonly nowMs: number;
}

const TabPart = (props: TabProps) => <>{PARTS[props.tab](props)}</>;

/** A part draws nothing until its document is there; the head and the charts say why. */
const PARTS: Readonly<Record<TabName, (props: TabProps) => ComponentChildren>> = {
  events: ({ past }) => past && <EventsTab past={past} />,
  doctor: ({ place }) => <DoctorTab place={place} />,
  edits: ({ past }) => past && <EditsTab past={past} />,
  manifest: ({ described: { value } }) => value && <ManifestTab described={value} />,
  schedule: ({ place }) => <ScheduleTab place={place} />,
  windows: ({ described: { value }, nowMs }) =>
    value && <WindowsTab described={value} nowMs={nowMs} />,
  conditions: ({ described: { value } }) => value && <ConditionsTab described={value} />,
  compare: ({ place, past }) => <CompareTab place={place} past={past} />,
  points: ({ past }) => past && !areReadStill(past) && <PointsTab past={past} />,
};
