import { expect, it } from "vitest";
import { ownPart } from "../../lib/answers/service/apply/apply.ts";

const own = {
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop", labels: { a: "b" } },
  spec: { maxReplicas: 3 },
};

it("ownPart() leaves out the status and what only an API server sets in the metadata", () => {
  const readBack = {
    ...own,
    metadata: {
      uid: "u",
      resourceVersion: "1",
      generation: 2,
      creationTimestamp: "2026-01-01T00:00:00Z",
      deletionTimestamp: "2026-01-01T00:00:00Z",
      deletionGracePeriodSeconds: 0,
      selfLink: "/apis",
      managedFields: [],
      ownerReferences: [],
      finalizers: ["a/b"],
      ...own.metadata,
    },
    status: { currentReplicas: 2 },
  };
  expect(JSON.stringify(ownPart(readBack))).toBe(JSON.stringify(own));
});

it.each([[null], ["text"], [[1]], [{ metadata: "text" }], [{ spec: {} }]])(
  "ownPart() leaves %j as it is",
  (document) => expect(ownPart(document)).toEqual(document),
);
