import type { Container, MilliByResource, Pod } from "../../../model/observation.ts";
import { type ControllerSettings, isMended } from "../../../model/spec-common.ts";
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
  { resource, container }: { readonly resource: string; readonly container?: string | undefined },
  version: Version,
): Requests | Failure => {
  const requests = new Map<string, bigint>();
  for (const pod of pods) {
    const request =
      container === undefined
        ? podRequest(pod, resource, version)
        : containerRequest(pod, resource, container);
    if (typeof request !== "bigint") return request;
    requests.set(pod.name, request);
  }
  return requests;
};

type Version = Pick<ControllerSettings, "hpaVersion">;

const podRequest = (pod: Pod, resource: string, version: Version): bigint | Failure => {
  if (pod.podRequests && Object.keys(pod.podRequests).some(isPodLevelResource))
    return podLevelRequest(pod, { resource, requests: pod.podRequests }, version);
  let total = 0n;
  for (const container of inOrder(pod, version)) {
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

/** The first one without a request is named: since 1.38 init containers are looked at first. */
const inOrder = (pod: Pod, version: Version): readonly Container[] => {
  const running = runningContainers(pod);
  if (!isMended(version)) return running;
  const { length } = pod.containers;
  return [...running.slice(length), ...running.slice(0, length)];
};

/** Containers and those init containers that keep running beside them. */
const runningContainers = ({ containers, initContainers }: Pod): readonly Container[] =>
  initContainers.length === 0
    ? containers
    : [...containers, ...initContainers.filter(({ restartable }) => restartable)];

const isPodLevelResource = (resource: string): boolean =>
  resource === "cpu" || resource === "memory" || resource.startsWith("hugepages-");

/**
 * The pod's own request wins over what its containers add up to. Overhead comes on top before 1.38:
 * no container uses it, so that it belongs to no share of what they use.
 */
const podLevelRequest = (
  pod: Pod,
  { resource, requests }: { readonly resource: string; readonly requests: MilliByResource },
  version: Version,
): bigint | Failure => {
  const own = isPodLevelResource(resource) ? requests[resource] : undefined;
  const request = own ?? aggregateRequest(pod, resource);
  const overhead = isMended(version) ? undefined : pod.overhead[resource];
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
