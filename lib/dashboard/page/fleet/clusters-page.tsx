import type { ClusterView } from "../../../answers/views/cluster.ts";
import { useList } from "../data/use-list.ts";
import { CLUSTER_SHAPES, Mark } from "../parts/mark.tsx";
import { FailureNotice, Loading, Notice } from "../parts/notice.tsx";
import { Ago, Sentence } from "../parts/time.tsx";
import { fragmentOf } from "../route.ts";

/** More than a stack has. */
const READ_MAX = 2_000;

/** The clusters: state, lag of each partition, newest error, and what to do. */
export const ClustersPage = () => {
  const { value, failure } = useList<ClusterView>("/v1/clusters", {}, READ_MAX);
  if (!value) return failure ? <FailureNotice failure={failure} /> : <Loading />;
  return (
    <>
      <div class="head">
        <h1>Clusters</h1>
        <span class="count">{value.items.length}</span>
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
                {[
                  "Cluster",
                  "State",
                  "Autoscalers",
                  "Synced",
                  "Period",
                  "Error, and what to do",
                ].map((head) => (
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
  const { name, state, since, error, autoscalers, syncPeriodSeconds, partitions } = cluster;
  const oldest = partitions
    .flatMap(({ syncedAt }) => syncedAt ?? [])
    .toSorted()
    .at(0);
  return (
    <tr>
      <td>
        <a href={fragmentOf({ page: "fleet", parameters: { q: `cluster:${name}` } })}>{name}</a>
        {partitions.length > 1 && <div class="quiet">{partitions.length} partitions</div>}
      </td>
      <td>
        <span class="state">
          <Mark shape={CLUSTER_SHAPES[state]} /> {state}
        </span>
        {since !== undefined && state !== "ok" && (
          <div class="quiet">
            <Ago at={since} />
          </div>
        )}
      </td>
      <td>{autoscalers ?? ""}</td>
      <td>{oldest === undefined ? "never" : <Ago at={oldest} />}</td>
      <td>{syncPeriodSeconds} s</td>
      <td>
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
