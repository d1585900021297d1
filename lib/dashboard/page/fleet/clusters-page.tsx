import type { ClusterView } from "../../../answers/views/cluster.ts";
import { ASSUMED, dollarsOfCluster } from "../../../answers/cost/bill.ts";
import { decidedShort, decidedText } from "../../../answers/words/decided-words.ts";
import { serverCommand, serverText } from "../../../answers/words/server-words.ts";
import { PRICES } from "../../../answers/cost/prices.ts";
import { HPA_VERSIONS } from "../../../rules/model/spec-common.ts";
import { useList } from "../data/use-list.ts";
import { CLUSTER_SHAPES, Mark } from "../parts/mark.tsx";
import { FailureNotice, Loading, Notice } from "../parts/notice.tsx";
import { useRows } from "./use-rows.ts";
import { PageHead } from "../parts/page-head.tsx";
import { plural } from "../parts/plural.ts";
import { Ago, Sentence } from "../parts/time.tsx";
import { fragmentOf } from "../route.ts";

/** More than a stack has. */
const READ_MAX = 2_000;

const HEADS = [
  "Cluster",
  "State",
  "Synced",
  "Decided",
  "Period",
  "Autoscalers",
  "A month",
  "Kubernetes",
  "Error",
] as const;

/** The clusters: state, lag of each partition, newest error, and what to do. */
export const ClustersPage = () => {
  const { value, failure } = useList<ClusterView>("/v1/clusters", {}, READ_MAX);
  const { value: rows, isPart } = useRows();
  const counts = isPart ? undefined : rows && Map.groupBy(rows, ({ cluster }) => cluster);
  if (!value)
    return (
      <>
        <PageHead title="Clusters" />
        {failure ? <FailureNotice failure={failure} /> : <Loading />}
      </>
    );
  return (
    <>
      <PageHead title="Clusters" count={plural(value.items.length, "cluster")} />
      <p class="quiet">
        A month is what the cluster adds to the bill of AWS, by list prices of {PRICES.date} and{" "}
        {ASSUMED.scalesADay} scales a day of each autoscaler. <code>tidemark cost</code> counts the
        real scales, and what the stack itself takes.
      </p>
      {failure && <FailureNotice failure={failure} />}
      {value.items.length === 0 ? (
        <Notice title="There is no cluster yet">
          <p>
            <code>tidemark cluster add NAME</code>
          </p>
        </Notice>
      ) : (
        <div class="wide">
          <table class="plain clusters">
            <thead>
              <tr>
                {HEADS.map((head) => (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {value.items.map((cluster) => (
                <ClusterLine
                  key={cluster.name}
                  cluster={cluster}
                  autoscalers={counts && (counts.get(cluster.name)?.length ?? 0)}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
};

const dollarsText = (
  { partitions, syncPeriodSeconds, connection }: ClusterView,
  autoscalers: number,
): string =>
  `$${dollarsOfCluster({
    autoscalers,
    partitions: partitions.length,
    periodSeconds: syncPeriodSeconds,
    hasSecret: connection?.kind === "secret",
  }).toFixed(2)}`;

const ClusterLine = ({
  cluster,
  autoscalers,
}: {
  readonly cluster: ClusterView;
  /** Undefined until all rows are there. */
  readonly autoscalers: number | undefined;
}) => {
  const { name, state, since, error, decided, syncPeriodSeconds, partitions, settings } = cluster;
  const oldest = partitions
    .flatMap(({ syncedAt }) => syncedAt ?? [])
    .toSorted()
    .at(0);
  return (
    <tr>
      <td data-head="Cluster">
        <a href={fragmentOf({ page: "fleet", parameters: { q: `cluster:${name}` } })}>{name}</a>
        {partitions.length > 1 && <div class="quiet">{plural(partitions.length, "partition")}</div>}
      </td>
      <td data-head="State">
        <span class="state">
          <Mark shape={CLUSTER_SHAPES[state]} /> {state}
        </span>
        {since !== undefined && state !== "ok" && (
          <div class="quiet">
            <Ago at={since} />
          </div>
        )}
      </td>
      <td data-head="Synced">{oldest === undefined ? "never" : <Ago at={oldest} />}</td>
      <td data-head="Decided">
        <span title={decidedText(decided)}>{decidedShort(decided)}</span>
      </td>
      <td data-head="Period">{syncPeriodSeconds} s</td>
      <td data-head="Autoscalers">{autoscalers ?? "…"}</td>
      <td data-head="A month">
        {autoscalers === undefined ? "…" : dollarsText(cluster, autoscalers)}
      </td>
      <td data-head="Kubernetes">
        <span title={`${serverCommand(cluster)} asks for it`}>{serverText(cluster)}</span>
        <div class="quiet">
          {cluster.server && (
            <>
              read <Ago at={cluster.server.at} />,{" "}
            </>
          )}
          decides as {settings.hpaVersion ?? HPA_VERSIONS[0]}
        </div>
      </td>
      <td data-head="Error">
        {error === undefined ? (
          <span class="quiet">none</span>
        ) : (
          <>
            <Sentence>{error}</Sentence>
            <div class="quiet">tidemark cluster check {name}</div>
          </>
        )}
      </td>
    </tr>
  );
};
