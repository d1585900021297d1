import type { ClusterView } from "../../../answers/views/cluster.ts";
import { useList } from "../data/use-list.ts";
import { CLUSTER_SHAPES, Mark } from "../parts/mark.tsx";
import { FailureNotice, Loading, Notice } from "../parts/notice.tsx";
import { plural } from "../parts/plural.ts";
import { Ago, Sentence } from "../parts/time.tsx";
import { fragmentOf } from "../route.ts";

/** More than a stack has. */
const READ_MAX = 2_000;

const HEADS = ["Cluster", "State", "Synced", "Period", "Error"] as const;

/** The clusters: state, lag of each partition, newest error, and what to do. */
export const ClustersPage = () => {
  const { value, failure } = useList<ClusterView>("/v1/clusters", {}, READ_MAX);
  if (!value) return failure ? <FailureNotice failure={failure} /> : <Loading />;
  return (
    <>
      <div class="head">
        <h1>Clusters</h1>
        <span class="count">{plural(value.items.length, "cluster")}</span>
      </div>
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
                <ClusterLine key={cluster.name} cluster={cluster} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
};

const ClusterLine = ({ cluster }: { readonly cluster: ClusterView }) => {
  const { name, state, since, error, syncPeriodSeconds, partitions } = cluster;
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
      <td data-head="Period">{syncPeriodSeconds} s</td>
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
