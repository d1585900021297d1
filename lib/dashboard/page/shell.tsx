import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { AutoscalerPage } from "./autoscaler/autoscaler-page.tsx";
import type { DashboardFacts } from "../serve/facts.ts";
import { FactsContext } from "./data/facts.ts";
import { Api } from "./data/request.ts";
import { SourceContext, usePolled, type Ask, type Known } from "./data/use-document.ts";
import { ChangesPage } from "./changes/changes-page.tsx";
import { ClustersPage } from "./fleet/clusters-page.tsx";
import { FleetPage } from "./fleet/fleet-page.tsx";
import { Help } from "./help.tsx";
import { SchedulePage } from "./schedule/schedule-page.tsx";
import { PageHead } from "./parts/page-head.tsx";
import { FailureNotice, Loading } from "./parts/notice.tsx";
import { Time } from "./parts/time.tsx";
import { fragmentOf, type PageName, type Route } from "./route.ts";
import { useRoute } from "./use-route.ts";

const FACTS = "/v1/dashboard";
/** Until the server has said how often it wants to be asked. */
const FIRST_MS = 5_000;
const SECOND_MS = 1_000;

/** All pages: the bar above them, and what is shown while the server does not answer. */
export const Shell = ({ token }: { readonly token: string | undefined }) => {
  const api = useMemo(() => new Api(token ?? ""), [token]);
  const every = useRef(FIRST_MS);
  const ask: Ask<DashboardFacts> = (_before, signal) => api.get(FACTS, {}, { signal });
  const known = usePolled<DashboardFacts>(FACTS, ask, every.current);
  const { value: facts, failure } = known;
  every.current = facts ? facts.refreshSeconds * SECOND_MS : FIRST_MS;
  const source = useMemo(() => ({ api, refreshMs: every.current }), [api, every.current]);
  const route = useRoute();
  if (!facts)
    return (
      <Frame route={route}>
        <PageHead title={TABS.find(({ page }) => page === route.page)?.words ?? "Autoscaler"} />
        {failure ? <FailureNotice failure={failure} /> : <Loading />}
      </Frame>
    );
  return (
    <SourceContext.Provider value={source}>
      <FactsContext.Provider value={facts}>
        <Frame route={route} facts={<Facts facts={facts} known={known} />}>
          {failure && <FailureNotice failure={failure} />}
          <Page route={route} />
        </Frame>
      </FactsContext.Provider>
    </SourceContext.Provider>
  );
};

const Page = ({ route }: { readonly route: Route }) => {
  switch (route.page) {
    case "autoscaler":
      return <AutoscalerPage route={route} />;
    case "clusters":
      return <ClustersPage />;
    case "schedule":
      return <SchedulePage route={route} />;
    case "changes":
      return <ChangesPage />;
    case "fleet":
      return <FleetPage route={route} />;
  }
};

const TABS: readonly { readonly page: PageName; readonly words: string }[] = [
  { page: "fleet", words: "Fleet" },
  { page: "clusters", words: "Clusters" },
  { page: "schedule", words: "Schedule" },
  { page: "changes", words: "Changes" },
];

const Frame = ({
  route,
  facts,
  children,
}: {
  readonly route: Route;
  readonly facts?: ComponentChildren;
  readonly children: ComponentChildren;
}) => (
  <>
    <header class="bar">
      <a class="brand" href={fragmentOf({ page: "fleet" })}>
        <img src="icon.svg" alt="" width="22" height="22" />
        Tidemark
      </a>
      <nav aria-label="Pages">
        {TABS.map(({ page, words }) => (
          <a
            key={page}
            href={fragmentOf({ page })}
            aria-current={route.page === page ? "page" : undefined}
          >
            {words}
          </a>
        ))}
      </nav>
      {facts}
      <Help />
    </header>
    <main>{children}</main>
  </>
);

const Facts = ({
  facts,
  known,
}: {
  readonly facts: DashboardFacts;
  readonly known: Known<DashboardFacts>;
}) => (
  <div class="facts">
    <span class="place" title={`${facts.place}, as ${facts.caller}`}>
      {facts.place}
    </span>
    <span class={known.failure ? "asof stale" : "asof"}>
      {known.failure ? "not answering since" : "as of"} <Time at={facts.now} />
    </span>
    <span class="tag">{facts.edits ? "may edit" : "reads only"}</span>
  </div>
);
