import { describe, expect, it } from "vitest";
import type { Container, MilliByResource, Pod } from "../../../../lib/rules/model/observation.ts";
import type { HpaVersion } from "../../../../lib/rules/model/spec-common.ts";
import { requestsOf } from "../../../../lib/rules/policy/shared/metrics/requests.ts";
import { readyPod } from "../../../observation.ts";

const container = (name: string, requests: MilliByResource, restartable = false): Container => ({
  name,
  requests,
  limits: {},
  restartable,
});
const pod = (more: Partial<Pod>): Pod =>
  readyPod("web-1", 0n, { containers: [container("app", { cpu: 100n })], ...more });

const of = (
  more: Partial<Pod>,
  resource = "cpu",
  name?: string,
  hpaVersion: HpaVersion = "1.37",
): bigint | string => {
  const requests = requestsOf([pod(more)], { resource, container: name }, { hpaVersion });
  return "message" in requests ? requests.message : (requests.get("web-1") ?? "none");
};

describe("requestsOf() a pod", () => {
  it.each<[string, Partial<Pod>, bigint | string]>([
    [
      "adds up its containers",
      { containers: [container("a", { cpu: 100n }), container("b", { cpu: 50n })] },
      150n,
    ],
    [
      "and init containers that keep running",
      { initContainers: [container("side", { cpu: 30n }, true), container("prep", { cpu: 900n })] },
      130n,
    ],
    [
      "fails on one container that requests nothing",
      { containers: [container("a", { cpu: 1n }), container("b", {})] },
      "missing request for cpu in container b of Pod web-1",
    ],
    [
      "and on such a sidecar",
      { initContainers: [container("side", {}, true)] },
      "missing request for cpu in container side of Pod web-1",
    ],
    ["not on an ordinary init container", { initContainers: [container("prep", {})] }, 100n],
    [
      "goes round at 64 bits",
      { containers: [container("a", { cpu: 2n ** 63n - 1n }), container("b", { cpu: 1n })] },
      -(2n ** 63n),
    ],
  ])("%s", (_, more, expected) => {
    expect(of(more)).toBe(expected);
  });

  it.each<[string, Partial<Pod>, string, bigint | string]>([
    ["the pod's own request", { podRequests: { cpu: 700n } }, "cpu", 700n],
    [
      "the pod's own request beside one of another kind",
      { podRequests: { cpu: 700n, gpu: 3n } },
      "cpu",
      700n,
    ],
    ["with its overhead", { podRequests: { cpu: 700n }, overhead: { cpu: 5n } }, "cpu", 705n],
    [
      "its containers', where it names another resource",
      { podRequests: { memory: 1n } },
      "cpu",
      100n,
    ],
    [
      "where an init container needs more for a while, that",
      { podRequests: { memory: 1n }, initContainers: [container("prep", { cpu: 900n })] },
      "cpu",
      900n,
    ],
    [
      "an init container beside the sidecars before it",
      {
        podRequests: { memory: 1n },
        initContainers: [container("side", { cpu: 30n }, true), container("prep", { cpu: 90n })],
      },
      "cpu",
      130n,
    ],
    [
      "where init and sidecars are more than all that run later, those",
      {
        podRequests: { memory: 1n },
        initContainers: [container("side", { cpu: 30n }, true), container("prep", { cpu: 200n })],
      },
      "cpu",
      230n,
    ],
    [
      "two sidecars in turn",
      {
        podRequests: { memory: 1n },
        containers: [container("app", {})],
        initContainers: [
          container("one", { cpu: 30n }, true),
          container("two", { cpu: 20n }, true),
        ],
      },
      "cpu",
      50n,
    ],
    [
      "overhead alone",
      { podRequests: { cpu: 1n }, containers: [container("app", {})], overhead: { memory: 9n } },
      "memory",
      9n,
    ],
    ["huge pages count as well", { podRequests: { "hugepages-2Mi": 4n } }, "hugepages-2Mi", 4n],
    [
      "an amount that only the pod level names otherwise is not its own",
      { podRequests: { cpu: 1n, gpu: 3n }, containers: [container("app", { gpu: 2n })] },
      "gpu",
      2n,
    ],
    [
      "nothing at all fails",
      { podRequests: { cpu: 1n } },
      "memory",
      "missing pod-level request for memory in Pod web-1",
    ],
    [
      "requests of other resources alone are no pod-level requests",
      { podRequests: { gpu: 3n } },
      "cpu",
      100n,
    ],
  ])("at pod level takes %s", (_, more, resource, expected) => {
    expect(of(more, resource)).toBe(expected);
  });

  it.each<[string, Partial<Pod>, bigint | string]>([
    ["a container's own", {}, 100n],
    ["a sidecar's", { containers: [], initContainers: [container("app", { cpu: 7n }, true)] }, 7n],
    [
      "not an ordinary init container's",
      { containers: [], initContainers: [container("app", { cpu: 7n })] },
      "container app not found in Pod web-1",
    ],
    [
      "none where it requests nothing",
      { containers: [container("app", {})] },
      "missing request for cpu in container app of Pod web-1",
    ],
  ])("for a container metric takes %s", (_, more, expected) => {
    expect(of(more, "cpu", "app")).toBe(expected);
  });

  it("names the first pod that fails", () => {
    const pods = [
      readyPod("a", 5n),
      readyPod("b", 0n, { containers: [container("x", {})] }),
      readyPod("c", 0n, { containers: [container("y", {})] }),
    ];
    expect(requestsOf(pods, { resource: "cpu" }, {})).toEqual({
      kind: "failure",
      message: "missing request for cpu in container x of Pod b",
    });
  });

  it("leaves out the overhead since 1.38, and fails where there was nothing else", () => {
    const overhead = { cpu: 5n, memory: 9n };
    const more = { podRequests: { cpu: 700n }, containers: [container("app", {})], overhead };
    expect(of(more, "cpu", undefined, "1.38")).toBe(700n);
    expect(of(more, "memory", undefined, "1.38")).toBe(
      "missing pod-level request for memory in Pod web-1",
    );
  });

  it("names a sidecar before a container since 1.38", () => {
    const more = {
      containers: [container("app", {})],
      initContainers: [container("proxy", {}, true)],
    };
    expect(of(more)).toBe("missing request for cpu in container app of Pod web-1");
    expect(of(more, "cpu", undefined, "1.38")).toBe(
      "missing request for cpu in container proxy of Pod web-1",
    );
  });
});
