import type {
  ClusterClient,
  ObservedCluster,
  ScaleWrite,
  ServiceRequest,
} from "../../lib/stack/cluster/cluster-client.ts";
import { fieldManagerOf } from "../../lib/stack/cluster/scale.ts";
import type { ClusterRecord } from "../../lib/rules/model/records.ts";
import { SPEC_KIND_NAMES } from "../../lib/rules/model/spec.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import type { Effect, SimulatedCluster } from "./cluster.ts";
import { clusterClient } from "./cluster-client.ts";
import type { Invocation } from "./invocation.ts";
import { type Listing, STALE_MAX_MS } from "./objects/list-objects.ts";
import type { Failing } from "./observe.ts";
import type { Planted } from "./play.ts";
import type { Process } from "./process.ts";
import { answersAt, noteLooks, rivalsThere } from "./rivals.ts";
import { sharedRules, watchedRules } from "./rules.ts";
import { siteFor, siteOf, watchSite } from "./sites.ts";
import { clusterOverSockets } from "./sockets/socket-cluster.ts";
import { serveSource, sourcesOf } from "./sources/serve-sources.ts";
import { START_MS, type Stage } from "./stage.ts";
import { watchMoved } from "./takeovers.ts";
import { watchEffect } from "./watch/effects.ts";
import { watchCalls, watchSentTo } from "./watch/model-flow.ts";
import { watchEffectStep } from "./watch/model-steps.ts";
import { watchActs, watchListed } from "./watch/objects.ts";
import { watchListings, watchReading, watchReadings } from "./watch/readings.ts";
import { OTHER_STACK_MS, watchStack, watchStackEffect } from "./watch/restored.ts";
import { sentIntent } from "./watch/sent-intent.ts";
import { watchSent } from "./watch/stops.ts";

/**
 * What one invocation reaches: everything through the network, and all that it decides and does
 * looked at.
 */
export const portsOf = (stage: Stage, by: Invocation, planted: Planted | undefined): SyncPorts => {
  const { story, ledger, nowMs, network } = stage;
  const unwatchedTables = stage.tablesFor(by.process, by);
  const tables = { ...unwatchedTables, client: watchSentTo(ledger, by, unwatchedTables.client) };
  const { cluster: name } = by.message;
  const { stack } = stage;
  let record: Partial<Pick<ClusterRecord, "uid" | "restoredAs">> = {};
  const manager = (): string => fieldManagerOf(record);
  const effect =
    (site: SimulatedCluster) =>
    (made: Effect): void => {
      watchSite(stage, by, site, `moves "${made.workload.target.name}"`);
      story.tell(
        made.workload.cluster,
        `"${made.workload.target.name}" goes from ${made.from} to ${made.to} by a PUT of ${by.name}`,
      );
      const known = sentIntent(ledger, by, { targetUid: made.workload.uid, replicas: made.to });
      if (known) watchEffectStep(ledger, known, stage.read);
      watchEffect(ledger, by, made);
      watchMoved(ledger, made);
      if (stack) watchStackEffect(stack, manager(), made);
    };
  const clientOf = (site: SimulatedCluster): ClusterClient => {
    const asked = {
      by,
      effect: effect(site),
      failing: () => failingNow(stage, by),
      listing: () => listingNow(stage),
      reachedAnother: ({ target }: ScaleWrite) =>
        stage.ledger.violate(
          "no PUT goes to an API server that its cluster does not name",
          `${by.name} sends a PUT of "${target.name}" that rests on another cluster, and that cluster gets it`,
        ),
      serve: (request: ServiceRequest) => serveSource(stage, site, request),
    };
    const client = clusterClient(network, by.process, site, { nowMs, ...asked });
    return stage.clustersOverSockets
      ? { ...client, ...clusterOverSockets(stage, site, asked) }
      : client;
  };
  const observe = async (
    site: SimulatedCluster,
    client: ClusterClient,
    ...[watched, limits]: Parameters<ClusterClient["observe"]>
  ) => {
    for (const { uid, namespace, name: own } of watched) by.uids.set(`${namespace}/${own}`, uid);
    const asked = { by, site, sinceMs: nowMs() };
    const before = rivalsThere(site, watched);
    const seen = besideStack(
      by.process,
      { nowMs: nowMs(), own: manager() },
      await client.observe(watched, limits),
    );
    noteLooks(by, { site, before, overSockets: stage.clustersOverSockets }, watched, seen);
    watchReadings(ledger, asked, watched, seen);
    for (const { uid, spec } of watched) {
      const { rivals = [], rivalsUnknown } = seen.observations.get(uid) ?? {};
      if (rivals.length > 0 || rivalsUnknown !== undefined) by.rivals.add(spec.target.name);
    }
    return seen;
  };
  const watchedClient = (site: SimulatedCluster): ClusterClient => {
    const client = clientOf(site);
    return {
      ...client,
      observe: (watched, limits) => observe(site, client, watched, limits),
      readScale: async (namespace, target, timeoutMs) => {
        const asked = { by, site, sinceMs: nowMs() };
        const reading = await client.readScale(namespace, target, timeoutMs);
        watchReading(ledger, asked, { namespace, target }, reading);
        return reading;
      },
      listSpecs: async (request) => {
        const asked = { by, site, sinceMs: nowMs() };
        const answer = await client.listSpecs(request);
        watchListings(ledger, asked, answer.listings);
        watchListed(ledger, by, answer.listings, site.objects);
        return answer;
      },
      putScale: (write, timeoutMs) => {
        watchSent(ledger, by, write, { overSockets: stage.clustersOverSockets });
        watchActs(ledger, by, write);
        watchSite(stage, by, site, `sends a PUT of "${write.target.name}"`);
        if (stack) watchStack(stack, by, site.at(write.namespace, write.target));
        stage.machine?.beforePut();
        return client.putScale(write, timeoutMs);
      },
    };
  };
  const ports: SyncPorts = {
    tables,
    insert: by.process.build.insertByStatement(tables),
    connect: async (found) => {
      record = found;
      by.kinds = found.specsFromCluster ?? [];
      return watchCalls(ledger, by, watchedClient(await siteFor(stage, by.process, found)));
    },
    rules: sharedRules(by.process.build),
    timing: { ...stage.timing, pageEntries: stage.pageEntries() },
    cache: by.process.cache,
    sources: async () => sourcesOf(by.process, nowMs),
  };
  const wrapped = planted?.ports?.(ports, by, clientOf(siteOf(stage, name)), stage) ?? ports;
  return { ...wrapped, rules: watchedRules(wrapped.rules, by, ledger, nowMs) };
};

/** Since when each environment has seen that another stack was the last to scale a workload. */
const seenSince = new WeakMap<Process, Map<string, number>>();

/**
 * Holds beside another stack as the client of production does
 * (lib/stack/cluster/observe/memory.ts), for a shorter time.
 */
const besideStack = (
  process: Process,
  { nowMs, own }: { readonly nowMs: number; readonly own: string },
  seen: ObservedCluster,
): ObservedCluster => {
  const since = seenSince.get(process) ?? new Map<string, number>();
  seenSince.set(process, since);
  const observations = new Map(
    [...seen.observations].map(([uid, observed]) => {
      const { scale } = observed.observation;
      if (scale.kind !== "read" || scale.lastScaledBy === undefined || scale.lastScaledBy === own)
        return [uid, observed] as const;
      const mark = `${uid} ${scale.lastScaledBy} ${scale.uid} ${scale.specReplicas}`;
      const sinceMs = since.get(mark) ?? nowMs;
      since.set(mark, sinceMs);
      const isHeld = nowMs - sinceMs < OTHER_STACK_MS;
      return [
        uid,
        { ...observed, ...(isHeld && { otherStack: { manager: scale.lastScaledBy, own } }) },
      ] as const;
    }),
  );
  return { ...seen, observations };
};

const listingNow = ({ random, temper, rate }: Stage): Listing => {
  if (rate() === 0) return { failing: new Set(), staleMs: 0 };
  const failing = new Set(SPEC_KIND_NAMES.filter(() => random.chance(temper.metricRate)));
  return {
    failing,
    staleMs: random.chance(temper.metricRate * 2) ? random.int(1, STALE_MAX_MS) : 0,
  };
};

const failingNow = (
  { timetable, random, temper, rate, hidings, nowMs }: Stage,
  by: Invocation,
): Failing => {
  if (rate() === 0) return { metrics: new Set(), scales: new Set(), rivals: "answered" };
  const scales = new Set(
    timetable.autoscalers
      .filter(() => random.chance(temper.metricRate / 4))
      .map(({ name }) => name),
  );
  const metrics = new Set(
    timetable.autoscalers.filter(() => random.chance(temper.metricRate)).map(({ name }) => name),
  );
  const isFailed = random.chance(temper.metricRate);
  return {
    scales,
    metrics,
    rivals: isFailed ? "failed" : answersAt(hidings, by.message.cluster, nowMs() - START_MS),
  };
};
