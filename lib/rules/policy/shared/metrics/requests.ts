import type { Container, MilliByResource, Pod } from "../../../model/observation.ts";
import { wrapI64 } from "../arithmetic.ts";
import { type Failure, failure } from "../../../sources/source.ts";

/** Requests by the name of the pod, thousandths. */
export type Requests = ReadonlyMap<string, bigint>;

/**
 * hpa.md 3.5, for every listed pod whatever its state. One pod that does not say what it requests
 * fails the metric: a percentage of nothing means nothing.
 */
export const requestsOf = (
  pods: readonly Pod[],
  resource: string,
  container: string | undefined,
): Requests | Failure => {
  const requests = new Map<string, bigint>();
  for (const pod of pods) {
    const request =
      container === undefined
        ? podRequest(pod, resource)
        : containerRequest(pod, resource, container);
    if (typeof request !== "bigint") return request;
    requests.set(pod.name, request);
  }
  return requests;
};

const podRequest = (pod: Pod, resource: string): bigint | Failure => {
  if (pod.podRequests && Object.keys(pod.podRequests).some(isPodLevelResource))
    return podLevelRequest(pod, pod.podRequests, resource);
  let total = 0n;
  for (const container of runningContainers(pod)) {
    const request = container.requests[resource];
    if (request === undefined) return missingRequest(pod, container.name, resource);
    total += request;
  }
  return wrapI64(total);
};

const containerRequest = (pod: Pod, resource: string, name: string): bigint | Failure => {
  const container = runningContainers(pod).find((candidate) => candidate.name === name);
  if (!container) return failure(`container ${name} not found in Pod ${pod.name}`);
  return container.requests[resource] ?? missingRequest(pod, name, resource);
};

const missingRequest = (pod: Pod, container: string, resource: string): Failure =>
  failure(`missing request for ${resource} in container ${container} of Pod ${pod.name}`);

/** Containers and those init containers that keep running beside them. */
const runningContainers = ({ containers, initContainers }: Pod): readonly Container[] =>
  initContainers.length === 0
    ? containers
    : [...containers, ...initContainers.filter(({ restartable }) => restartable)];

const isPodLevelResource = (resource: string): boolean =>
  resource === "cpu" || resource === "memory" || resource.startsWith("hugepages-");

/** The pod's own request wins over what its containers add up to; overhead comes on top. */
const podLevelRequest = (
  pod: Pod,
  podRequests: MilliByResource,
  resource: string,
): bigint | Failure => {
  const own = isPodLevelResource(resource) ? podRequests[resource] : undefined;
  const request = own ?? aggregateRequest(pod, resource);
  const overhead = pod.overhead[resource];
  if (request === undefined && overhead === undefined)
    return failure(`missing pod-level request for ${resource} in Pod ${pod.name}`);
  return wrapI64((request ?? 0n) + (overhead ?? 0n));
};

/**
 * What the pod needs at most at any time: all running containers together, or one ordinary init
 * container beside the restartable ones started before it.
 */
const aggregateRequest = (
  { containers, initContainers }: Pod,
  resource: string,
): bigint | undefined => {
  let running = sum(containers.map(({ requests }) => requests[resource]));
  let sidecars: bigint | undefined;
  let peak: bigint | undefined;
  for (const { requests, restartable } of initContainers) {
    const own = requests[resource];
    if (restartable) {
      running = sum([running, own]);
      sidecars = sum([sidecars, own]);
      peak = larger(peak, sidecars);
    } else peak = larger(peak, sum([own, sidecars]));
  }
  return larger(running, peak);
};

/** `undefined` is "nothing said", which is not 0. */
const sum = (amounts: readonly (bigint | undefined)[]): bigint | undefined =>
  amounts.reduce(
    (total, amount) => (total === undefined ? amount : total + (amount ?? 0n)),
    undefined,
  );

const larger = (one: bigint | undefined, other: bigint | undefined): bigint | undefined =>
  one === undefined || (other !== undefined && other > one) ? other : one;
