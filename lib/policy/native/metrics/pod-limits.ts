import type { Container, Pod } from "../../../model/observation.ts";

/** The pods with their limits in the place of their requests: the use of what a container may have at most. The limit of a whole pod and its overhead are no part of it. */
export const withLimits = (pods: readonly Pod[]): readonly Pod[] =>
  pods.map(({ podRequests: _ofThePod, ...pod }) => ({
    ...pod,
    containers: pod.containers.map(limited),
    initContainers: pod.initContainers.map(limited),
    overhead: {},
  }));

const limited = (container: Container): Container => ({ ...container, requests: container.limits });
