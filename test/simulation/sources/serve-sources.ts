import type { ServiceAnswer, ServiceRequest } from "../../../lib/stack/cluster/cluster-client.ts";
import { type SourceClient, sourceClient } from "../../../lib/stack/source-client/source-client.ts";
import type { SimulatedCluster } from "../cluster.ts";
import type { Process } from "../process.ts";
import { START_MS, type Stage } from "../stage.ts";
import { listed } from "../watch/ledger.ts";
import { measuredKey } from "../watch/measured.ts";

/**
 * The client of a process, of production, with its circuits: it asks the services of the cluster.
 */
export const sourcesOf = (process: Process, clock: () => number): SourceClient => {
  const known = clients.get(process) ?? sourceClient({ clock, ownAddresses: false });
  clients.set(process, known);
  return known;
};
const clients = new WeakMap<Process, SourceClient>();

const answered = (body: unknown, status = 200): ServiceAnswer => ({
  kind: "answered",
  status,
  bytes: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
});
const vector = (...values: readonly unknown[]) => ({
  status: "success",
  data: {
    resultType: "vector",
    result: values.map((value) => ({ metric: {}, value: [0, value] })),
  },
});

/**
 * What a source may say that measured nothing. Each would be a low value to a reader that is less
 * strict.
 */
const LIES: readonly ServiceAnswer[] = [
  answered(vector()),
  answered(vector("NaN")),
  answered(vector("-Inf")),
  answered(vector("0", "0")),
  answered(vector("")),
  answered(vector(0)),
  answered(vector(null)),
  answered({ ...vector("0"), warnings: ["a store was not reached"] }),
  answered({ ...vector("0"), status: "error" }),
  answered(vector("0"), 500),
  answered(vector("0"), 302),
  answered({
    status: "success",
    data: { resultType: "matrix", result: [{ metric: {}, values: [[0, "0"]] }] },
  }),
  answered({ status: "success", data: { resultType: "string", result: [0, "0"] } }),
  answered("<html>0</html>"),
  answered('{"status":"success","data":{"resultType":"vector","result":['),
  answered("0"),
  answered(""),
];

const QUERY = /^load-(.+)$/;
/** How old the load may be that a source knows: it scrapes now and then. */
const LAG_MAX_MS = 20_000;
const LIES_PER_FAULT = 4;

/**
 * What a Prometheus of the cluster answers at this instant: the load of the workload, perhaps as it
 * was a while ago, or something that is no measurement. Each load that it says is noted.
 */
export const serveSource = (
  stage: Stage,
  site: SimulatedCluster,
  { service, parameters }: ServiceRequest,
): ServiceAnswer => {
  const { random, temper, rate, timetable, nowMs, ledger } = stage;
  const isCalm = rate() === 0;
  const atMs = nowMs() - START_MS;
  const isOut =
    timetable.outages?.some(
      ({ source, fromMs, toMs }) => source === service.name && atMs >= fromMs && atMs < toMs,
    ) === true;
  if (isOut && !isCalm) return answered("no healthy upstream", 503);
  if (!isCalm && random.chance(temper.metricRate * LIES_PER_FAULT)) return random.pick(LIES);
  const query = parameters["query"] ?? "";
  const name = QUERY.exec(query)?.[1];
  const workload = [...site.workloads.values()].find(
    ({ target, gone }) => target.name === name && !gone,
  );
  if (workload === undefined) return answered(vector());
  const lagMs = isCalm || random.chance(1 / 2) ? 0 : random.int(0, LAG_MAX_MS);
  const load = site.past(workload, nowMs() - lagMs, nowMs())[0]?.load ?? workload.load;
  listed(ledger.measured, measuredKey(service.name, query)).push({ atMs: nowMs(), load });
  return answered(vector(String(load)));
};
