import { describe, expect, it } from "vitest";
import {
  filterRows,
  readOrder,
  readSearch,
  sortRows,
  withField,
} from "../../lib/dashboard/page/fleet/filter-rows.ts";
import {
  flatRows,
  joinedClusters,
  marksOf,
  type FleetRow,
} from "../../lib/dashboard/page/fleet/fleet-rows.ts";
import { fragmentOf, routeOf } from "../../lib/dashboard/page/route.ts";

const rowOf = (name: string, more: Partial<FleetRow> = {}): FleetRow => ({
  cluster: "eu-1",
  namespace: "shop",
  name,
  key: `eu-1/shop/${name}`,
  uid: name,
  generation: 1,
  kind: "HorizontalPodAutoscaler",
  state: "active",
  targets: [],
  createdAt: "2026-01-05T08:00:00.000Z",
  ...more,
});
const names = (rows: readonly FleetRow[]): readonly string[] => rows.map(({ name }) => name);
const ROWS = [
  rowOf("web", { owner: "ann" }),
  rowOf("api", { state: "failing", reason: "FailedGetResourceMetric", missingMetrics: 1 }),
  rowOf("cart", { state: "paused", namespace: "pay" }),
];

describe("filterRows()", () => {
  it.each([
    ["", ["web", "api", "cart"]],
    ["API", ["api"]],
    ["ann", ["web"]],
    ["state:failing", ["api"]],
    ["state:failing state:paused", ["api", "cart"]],
    ["state:paused ns:shop", []],
    ["is:unmeasured", ["api"]],
    ["shop web", ["web"]],
    ["nofield:web", []],
  ])("with %j keeps %j", (text, kept) => {
    expect(names(filterRows(ROWS, readSearch(text)))).toEqual(kept);
  });
});

describe("sortRows()", () => {
  it("shows first what needs a person, and turns an order round with a minus", () => {
    expect(names(sortRows(ROWS, readOrder()))).toEqual(["api", "cart", "web"]);
    expect(names(sortRows(ROWS, readOrder("name")))).toEqual(["api", "cart", "web"]);
    expect(names(sortRows(ROWS, readOrder("-name")))).toEqual(["web", "cart", "api"]);
  });
});

describe("withField()", () => {
  it("adds a value, and takes it away where it is", () => {
    expect(withField("web", "state", "failing")).toBe("web state:failing");
    expect(withField("web state:failing", "state", "failing")).toBe("web");
  });
});

describe("joinedClusters()", () => {
  it("keeps rows of a partition that did not come again, and drops those of one that did", () => {
    const [one, other] = [
      { ...rowOf("one"), partition: "a" },
      { ...rowOf("other"), partition: "b" },
    ];
    const before = [
      {
        cluster: "eu-1",
        partitions: [
          { name: "a", version: 1, mark: "aaaaaaaa" },
          { name: "b", version: 1, mark: "bbbbbbbb" },
        ],
        rows: [one, other],
      },
    ];
    expect(marksOf(before)).toBe("aaaaaaaabbbbbbbb");
    const found = [
      {
        cluster: "eu-1",
        partitions: [
          { name: "a", version: 2, mark: "aaaaaaaa", unchanged: true as const },
          { name: "b", version: 2, mark: "cccccccc" },
        ],
        rows: [],
      },
    ];
    const joined = flatRows(joinedClusters(before, found));
    expect(names(joined)).toEqual(["one"]);
    // It is the same object, so that nothing of it is made again.
    expect(joined[0]).toBe(flatRows(before)[0]);
  });
});

describe("the address", () => {
  it("says the same after it was read and written, whatever a name has", () => {
    const route = {
      page: "autoscaler" as const,
      path: ["eu-1", "shop", "a/b?c#d %"],
      parameters: { at: "2026-01-05T08:00:00.000Z" },
    };
    expect(routeOf(fragmentOf(route))).toEqual(route);
    expect(routeOf("#/nowhere/x")).toEqual({ page: "fleet", path: [], parameters: {} });
    expect(routeOf("#/fleet/%E0%A4%A").path).toEqual(["%E0%A4%A"]);
  });
});
