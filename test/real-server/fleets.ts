import { setTimeout as wait } from "node:timers/promises";
import type { ControlPlane } from "../control-plane/start.ts";
import { FLEET_DEFINITION } from "./objects.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const ROLE = {
  apiGroup: "rbac.authorization.k8s.io",
  kind: "ClusterRole",
  name: "tidemark-fleets",
};
/** The rule that docs/clusters.md asks for. */
const RULES = [
  { apiGroups: ["tidemark.test"], resources: ["fleets/scale"], verbs: ["get", "update"] },
];
const LOOK_AGAIN_MS = 100;
const LOOKS_MAX = 300;

/** Makes the custom resource known, and gives Tidemark the right to scale it. */
export const installFleets = async ({ call }: Pick<ControlPlane, "call">): Promise<void> => {
  await call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", FLEET_DEFINITION);
  await call("POST", `${RBAC}/clusterroles`, { metadata: { name: ROLE.name }, rules: RULES });
  const subjects = [{ apiGroup: ROLE.apiGroup, kind: "Group", name: "tidemark" }];
  await call("POST", `${RBAC}/clusterrolebindings`, {
    metadata: { name: ROLE.name },
    roleRef: ROLE,
    subjects,
  });
  for (let look = 0; look < LOOKS_MAX; look++) {
    const { status } = await call("GET", "/apis/tidemark.test/v1/fleets");
    if (status === 200) return;
    await wait(LOOK_AGAIN_MS);
  }
  throw new Error("the custom resource is not served");
};
