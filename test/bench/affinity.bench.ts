import Table from "cli-table3";

/**
 * A model of which environment meets which cluster. Lambda gives a message to any idle environment
 * of a function, so that of 2,000 clusters an environment sees each seldom: it has forgotten the
 * manifests, which count for five minutes, and the client, of which it keeps so many as its memory
 * holds. The ways to meet a warm one are compared by read units and dollars of the manifests.
 */
const CLUSTERS = 2_000;
const PERIOD_S = 15;
const SYNC_S = 0.25;
const KNOWN_S = 300;
const CLIENTS_KEPT = 420;
/** 200 autoscalers of 1.5 KB, read strongly; and the same compressed together in one item. */
const LIST_UNITS = 75;
const SNAPSHOT_UNITS = 6;
const MONTH_S = 730 * 3_600;
const DOLLARS_A_UNIT = 0.125 / 1_000_000;
const PERIODS = 60;

interface Shares {
  /** Syncs that read the manifests, and that open a connection, of all syncs. */
  readonly reads: number;
  readonly opens: number;
}

/** Numbers in [0, 1), the same in every run. */
const numbers = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

/** What an environment knows: for each cluster when it read its manifests, the latest seen last. */
type Known = Map<number, number>;

/** One sync of a cluster in an environment: whether it reads the manifests, and opens a connection. */
const synced = (own: Known, cluster: number, atS: number) => {
  const readS = own.get(cluster);
  const reads = readS === undefined || atS - readS > KNOWN_S;
  own.delete(cluster);
  own.set(cluster, reads ? atS : readS);
  const [oldest] = own.keys();
  if (own.size > CLIENTS_KEPT && oldest !== undefined) own.delete(oldest);
  return { reads, opens: readS === undefined };
};

const played = (functions: number): Shares => {
  const random = numbers(11);
  const environments = Math.max(1, Math.round((CLUSTERS / functions / PERIOD_S) * SYNC_S));
  const known = Array.from({ length: functions * environments }, (): Known => new Map());
  const all = Array.from({ length: PERIODS * CLUSTERS }, (_, sync) => {
    const cluster = sync % CLUSTERS;
    const at = (cluster % functions) * environments + Math.floor(random() * environments);
    return synced(known[at] ?? new Map(), cluster, Math.floor(sync / CLUSTERS) * PERIOD_S);
  });
  // Environments begin cold: the first half does not count.
  const counted = all.slice(all.length / 2);
  const share = (of: (one: (typeof all)[number]) => boolean): number =>
    counted.filter(of).length / counted.length;
  return { reads: share(({ reads }) => reads), opens: share(({ opens }) => opens) };
};

const percent = (share: number): string => `${Math.round(100 * share)} %`;
const dollars = (units: number): string =>
  `$${Math.round(((CLUSTERS * MONTH_S) / PERIOD_S) * units * DOLLARS_A_UNIT)}`;

export const run = async (): Promise<void> => {
  const head = ["way", "read the manifests", "open a connection", "$ a month for manifests"];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const functions of [1, 2, 4, 8, 16]) {
    const { reads, opens } = played(functions);
    const name = functions === 1 ? "one function, as it is" : `${functions} functions, by a hash`;
    table.push([name, percent(reads), percent(opens), dollars(reads * LIST_UNITS)]);
  }
  const { reads, opens } = played(1);
  // One sync in five minutes lists them, and the others read the item.
  const listed = PERIOD_S / KNOWN_S;
  const units = Math.min(reads, listed) * LIST_UNITS + Math.max(0, reads - listed) * SNAPSHOT_UNITS;
  table.push(["one item of all manifests", percent(reads), percent(opens), dollars(units)]);
  process.stdout.write(`${table.toString()}\n`);
};
