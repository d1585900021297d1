import { describe, expect, it } from "vitest";
import { scopesFor } from "../../lib/stack/cluster/observe/scopes.ts";
import { namespace } from "../../lib/rules/model/ids.ts";

const spaces = (count: number) =>
  new Set(Array.from({ length: count }, (_, index) => namespace(`n${index}`)));
const listed = (count: number, namespaces: "all" | readonly string[]) =>
  scopesFor(spaces(count), {
    namespaces: namespaces === "all" ? "all" : namespaces.map(namespace),
  }).map((scope) => scope.namespace ?? "*");

describe("scopesFor()", () => {
  it.each([
    [0, []],
    [1, ["n0"]],
    [3, ["n0", "n1", "n2"]],
    [4, ["*"]],
    [400, ["*"]],
  ])("divides the whole cluster with %i namespaces in need", (count, scopes) => {
    expect(listed(count, "all")).toEqual(scopes);
  });

  it("never looks beyond a partition that names its namespaces", () => {
    const named = ["n0", "n1", "n2", "n3", "n4"];
    expect(listed(5, named)).toEqual(named);
  });
});
