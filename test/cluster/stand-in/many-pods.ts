import { published } from "../wire/published.ts";
import { type Answer, json, type StandIn, standIn, status } from "./server.ts";

type Fields = Record<string, unknown>;

export interface PodOfServer {
  readonly namespace: string;
  readonly app: string;
  readonly ready: boolean;
}

/**
 * An API server with pods that change: LISTs page by page, and watches, as protobuf. Each change
 * has a version, and a watch tells those behind the one that it asks from.
 */
export interface ManyPods extends StandIn {
  readonly pods: ReadonlyMap<string, PodOfServer>;
  /** Makes or changes a pod; `undefined` deletes it. */
  readonly set: (name: string, pod: PodOfServer | undefined) => void;
  /** The pods that the first deployment counts; absent: those that are there. */
  counted: number | undefined;
  /** What a watch gets in place of its events. */
  watching: Answer | undefined;
  /** Events before this version are dropped: who asks for them gets 410. */
  oldest: number;
  /** Bytes of the last event that come. */
  readonly cut: { bytes: number | undefined };
  /** What was asked of pods since the last call: "LIST" for each page, "WATCH". */
  readonly asked: () => readonly string[];
}

const PATH = /^\/api\/v1(\/namespaces\/[^/]+)?\/pods$/;
const TYPE = "application/vnd.kubernetes.protobuf";

/** `deployments`: each selects the pods of its namespace with its name as label. */
export const manyPods = async (
  deployments: readonly { readonly namespace: string; readonly name: string }[],
): Promise<ManyPods> => {
  const server = await standIn();
  const { encode, root } = published();
  const watchEvent = root.lookupType("k8s.io.apimachinery.pkg.apis.meta.v1.WatchEvent");
  const pods = new Map<string, PodOfServer>();
  const changes: { readonly version: number; readonly type: string; readonly pod: Fields }[] = [];
  let [version, seen] = [1, 0];
  const objectOf = (
    name: string,
    { namespace, app, ready }: PodOfServer,
    at = version,
  ): Fields => ({
    metadata: { name, namespace, resourceVersion: String(at), labels: { app } },
    spec: { containers: [{ name: "app", resources: { requests: { cpu: "100m" } } }] },
    status: {
      phase: "Running",
      startTime: "2026-01-01T00:00:00Z",
      conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
    },
  });
  const all = (): [string, PodOfServer][] =>
    [...pods].toSorted(([one, a], [other, b]) =>
      `${a.namespace}/${one}` < `${b.namespace}/${other}` ? -1 : 1,
    );
  const frame = (type: string, kind: string, object: Fields): Buffer => {
    const event = watchEvent
      .encode(watchEvent.fromObject({ type, object: { raw: encode(kind, object) } }))
      .finish();
    const length = Buffer.alloc(4);
    length.writeUInt32BE(event.length);
    return Buffer.concat([length, event]);
  };
  const eventsSince = (since: number): Buffer =>
    since < own.oldest
      ? frame("ERROR", "k8s.io.apimachinery.pkg.apis.meta.v1.Status", {
          ...{ status: "Failure", reason: "Expired", code: 410 },
          message: `too old resource version: ${since} (${own.oldest})`,
        })
      : Buffer.concat(
          changes
            .filter((change) => change.version > since)
            .map(({ type, pod }) => frame(type, "k8s.io.api.core.v1.Pod", pod)),
        );
  const watch: Answer = (call, response, socket) => {
    if (own.watching) return own.watching(call, response, socket);
    // It goes on until the client ends it, as an API server does.
    response.writeHead(200, { "content-type": `${TYPE};stream=watch` });
    response.flushHeaders();
    const events = eventsSince(Number(call.url.searchParams.get("resourceVersion")));
    const { bytes } = own.cut;
    if (events.length > 0)
      response.write(bytes === undefined ? events : events.subarray(0, -bytes));
  };
  const list: Answer = ({ url }, response) => {
    const [, , only] = PATH.exec(url.pathname)?.[1]?.split("/") ?? [];
    const from = Number(url.searchParams.get("continue") ?? 0);
    const end = from + Number(url.searchParams.get("limit") ?? Number.POSITIVE_INFINITY);
    const there = all().filter(([, { namespace }]) => only === undefined || namespace === only);
    const items = there.slice(from, end).map(([name, pod]) => objectOf(name, pod, 1));
    const metadata = {
      resourceVersion: String(version),
      ...(end < there.length && { continue: String(end), remainingItemCount: there.length - end }),
    };
    response
      .writeHead(200, { "content-type": TYPE })
      .end(encode("k8s.io.api.core.v1.PodList", { metadata, items }));
  };
  const own: ManyPods = Object.assign(server, {
    pods,
    counted: undefined as number | undefined,
    watching: undefined as Answer | undefined,
    oldest: 0,
    cut: { bytes: undefined as number | undefined },
    set: (name: string, pod: PodOfServer | undefined) => {
      const before = pods.get(name);
      version++;
      if (pod) pods.set(name, pod);
      else pods.delete(name);
      const shown = pod ?? before;
      if (!shown) throw new Error(`there is no pod ${name}`);
      const type = pod === undefined ? "DELETED" : before === undefined ? "ADDED" : "MODIFIED";
      changes.push({ version, type, pod: objectOf(name, shown) });
    },
    asked: () => {
      const calls = server.seen.slice(seen).filter(({ url }) => url.pathname.endsWith("/pods"));
      seen = server.seen.length;
      return calls
        .filter(({ url }) => url.pathname.startsWith("/api/v1"))
        .map(({ url }) => (url.searchParams.has("watch") ? "WATCH" : "LIST"));
    },
  });
  const deploymentOf = ({ namespace, name }: (typeof deployments)[number], at: number) => {
    const there = [...pods.values()].filter(
      (pod) => pod.namespace === namespace && pod.app === name,
    ).length;
    const replicas = at === 0 ? (own.counted ?? there) : there;
    return {
      metadata: { namespace, name, uid: `u-${at}`, resourceVersion: "1" },
      spec: { replicas, selector: { matchLabels: { app: name } } },
      status: { replicas },
    };
  };
  server.answer = (call, response, socket) => {
    const { pathname, searchParams } = call.url;
    if (PATH.test(pathname))
      return (searchParams.has("watch") ? watch : list)(call, response, socket);
    const items = deployments.map(deploymentOf);
    const answer = pathname.endsWith("/deployments")
      ? json(200, { metadata: { resourceVersion: "1" }, items })
      : status(404, "NotFound", "there is none");
    answer(call, response, socket);
  };
  return own;
};
