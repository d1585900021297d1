import { describe, expect, it } from "vitest";
import { review } from "../../../lib/embedded/cluster/api.ts";

const ACCESS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const post = (path: string, body: unknown): unknown =>
  review({ method: "POST", path, body: JSON.stringify(body) });

describe("the reviews of the simulated cluster", () => {
  it("name the only user, who may do everything", () => {
    const asked = { kind: "SelfSubjectReview", apiVersion: "authentication.k8s.io/v1" };
    expect(post("/apis/authentication.k8s.io/v1/selfsubjectreviews", asked)).toMatchObject({
      ...asked,
      status: { userInfo: { username: "tidemark" } },
    });
    const right = {
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { verb: "list", resource: "pods" } },
    };
    expect(post(ACCESS, right)).toEqual({ ...right, status: { allowed: true } });
  });

  it("refuse another method, another object and what is no JSON, as a real server does", () => {
    expect(() => review({ method: "GET", path: ACCESS, body: "" })).toThrow();
    expect(() => post(ACCESS, { kind: "Pod" })).toThrow(/wanted a SelfSubjectAccessReview/);
    expect(() => review({ method: "POST", path: ACCESS, body: "{" })).toThrow(
      /wanted a SelfSubjectAccessReview/,
    );
  });

  it("leave every other path to the rest of the API", () => {
    expect(post("/apis/apps/v1/deployments", {})).toBeUndefined();
    expect(post("constructor", {})).toBeUndefined();
  });
});
