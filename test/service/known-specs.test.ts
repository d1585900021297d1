import { describe, expect, it } from "vitest";
import { specOf } from "../../lib/rules/manifest/admit.ts";
import { isTidemarkError } from "../../lib/rules/model/errors.ts";
import { specCache } from "../../lib/answers/service/stored-spec.ts";

const manifest = (name: string): string =>
  JSON.stringify({
    apiVersion: "autoscaling/v1",
    kind: "HorizontalPodAutoscaler",
    metadata: { name, namespace: "shop" },
    spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name }, maxReplicas: 5 },
  });

const counted = (charactersMax?: number) => {
  const converted: string[] = [];
  const convert: typeof specOf = (text, where) => {
    converted.push(text);
    return specOf(text, where);
  };
  return { converted, known: specCache(convert, charactersMax) };
};

describe("knownSpecs()", () => {
  it("converts equal texts once, to what specOf() says", () => {
    const { converted, known } = counted();
    const specs = [known(manifest("web")), known(manifest("api")), known(manifest("web"))];
    expect(specs).toEqual([
      specOf(manifest("web")),
      specOf(manifest("api")),
      specOf(manifest("web")),
    ]);
    expect(converted).toEqual([manifest("web"), manifest("api")]);
  });

  it("forgets all when the texts pass the limit", () => {
    const { converted, known } = counted(manifest("web").length + manifest("api").length);
    for (const name of ["web", "api", "web", "new", "web"]) known(manifest(name));
    expect(converted).toEqual(["web", "api", "new", "web"].map(manifest));
  });

  it("refuses a text every time, with the place that it is asked for", () => {
    const { known } = counted();
    const refusal = (where: string): string => {
      try {
        known("{", where);
      } catch (error) {
        if (isTidemarkError(error, "manifest.unreadable")) return error.message;
        throw error;
      }
      return "";
    };
    expect(
      [refusal("shop/web"), refusal("shop/api")].map((words) => words.includes("shop/web")),
    ).toEqual([true, false]);
  });
});
