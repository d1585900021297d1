import { describe, expect, it } from "vitest";
import {
  asCount,
  asList,
  asObject,
  asText,
  asTexts,
  readAmounts,
  readMilli,
  readWindow,
  readTime,
} from "../../../lib/rules/model/json.ts";
import { readPod } from "../../../lib/stack/cluster/read/pods.ts";
import {
  scaleReadingOf,
  readWorkloadScale,
  unknownKind,
} from "../../../lib/stack/cluster/scale.ts";
import { readCustomValues, readExternalValues, readPodMetrics } from "../../answers.ts";
import { readPods, readFailure } from "./answers.ts";

const AT = "2026-05-01T12:00:00Z";
const AT_MS = Date.parse(AT);

describe("readPod()", () => {
  it("reads what rules look at, quantities in thousandths", () => {
    const pod = {
      metadata: {
        name: "web-1",
        labels: { app: "web" },
        deletionTimestamp: AT,
        ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5f" }],
      },
      spec: {
        containers: [
          {
            name: "app",
            resources: { requests: { cpu: "250m", memory: "1Mi" }, limits: { cpu: "1" } },
          },
        ],
        initContainers: [
          { name: "prep" },
          { name: "side", restartPolicy: "Always", resources: { requests: { cpu: 2 } } },
        ],
        resources: { requests: { cpu: "3" } },
        overhead: { cpu: "5m" },
      },
      status: {
        phase: "Running",
        startTime: AT,
        conditions: [{ type: "Other" }, { type: "Ready", status: "True", lastTransitionTime: AT }],
      },
    };
    expect(readPod(pod)).toEqual({
      name: "web-1",
      labels: { app: "web" },
      owners: [{ kind: "ReplicaSet", name: "web-5f" }],
      deleting: true,
      phase: "Running",
      startMs: AT_MS,
      ready: { status: "True", transitionMs: AT_MS },
      containers: [
        {
          name: "app",
          requests: { cpu: 250n, memory: 1_048_576_000n },
          limits: { cpu: 1000n },
          restartable: false,
        },
      ],
      initContainers: [
        { name: "prep", requests: {}, limits: {}, restartable: false },
        { name: "side", requests: { cpu: 2000n }, limits: {}, restartable: true },
      ],
      podRequests: { cpu: 3000n },
      overhead: { cpu: 5n },
    });
  });

  it.each([[{}], [null], ["text"], [[]], [{ metadata: 5, spec: "x", status: [] }]])(
    "takes %j for a pod that says nothing",
    (raw) => {
      expect(readPod(raw)).toEqual({
        name: "",
        labels: {},
        owners: [],
        deleting: false,
        phase: "",
        containers: [],
        initContainers: [],
        overhead: {},
      });
    },
  );

  it("keeps a Ready condition without a transition, as from the beginning of time", () => {
    expect(readPod({ status: { conditions: [{ type: "Ready", status: "False" }] } }).ready).toEqual(
      { status: "False", transitionMs: 0 },
    );
  });

  it("reads lists, and reads nothing from a value that is no list", () => {
    expect(
      readPods([{ metadata: { name: "a" } }, { metadata: { name: "b" } }]).map(({ name }) => name),
    ).toEqual(["a", "b"]);
    expect(readPods(null)).toEqual([]);
  });
});

describe("the readers of metrics", () => {
  it("read PodMetrics", () => {
    const raw = {
      metadata: { name: "web-1", labels: { app: "web" } },
      timestamp: AT,
      window: "1m0.5s",
      containers: [{ name: "app", usage: { cpu: "12345n" } }],
    };
    expect(readPodMetrics([raw, {}])).toEqual([
      {
        name: "web-1",
        labels: { app: "web" },
        timestampMs: AT_MS,
        windowMs: 60_500,
        containers: [{ name: "app", usage: { cpu: 1n } }],
      },
      { name: "", labels: {}, timestampMs: 0, windowMs: 0, containers: [] },
    ]);
  });

  it("read custom values; a window that is not given is a minute", () => {
    const items = [
      {
        describedObject: { kind: "Pod", name: "web-1" },
        timestamp: AT,
        value: "1500m",
        windowSeconds: 15,
      },
      { value: 2, windowSeconds: 0 },
      { value: "3" },
    ];
    expect(readCustomValues(items)).toEqual({
      kind: "answered",
      items: [
        { describes: "web-1", milli: 1500n, timestampMs: AT_MS, windowMs: 15_000 },
        { describes: "", milli: 2000n, timestampMs: 0, windowMs: 0 },
        { describes: "", milli: 3000n, timestampMs: 0, windowMs: 60_000 },
      ],
    });
  });

  it("read external values", () => {
    expect(readExternalValues([{ timestamp: AT, value: " 7 " }])).toEqual({
      kind: "answered",
      items: [{ milli: 7000n, timestampMs: AT_MS }],
    });
    expect(readExternalValues(null)).toEqual({ kind: "answered", items: [] });
  });

  it.each([
    [
      "a text that is no quantity",
      { value: "many" },
      'the answer holds "many" where a quantity is expected',
    ],
    ["nothing", {}, "the answer holds nothing where a quantity is expected"],
    ["an object", { value: {} }, "the answer holds {} where a quantity is expected"],
  ])("never leave a value out of a sum: %s fails the answer", (_, broken, message) => {
    const failed = { kind: "failed", failure: { code: 0, reason: "InvalidAnswer", message } };
    expect(readExternalValues([{ value: "1" }, broken])).toEqual(failed);
    expect(readCustomValues([{ value: "1" }, broken])).toEqual(failed);
  });

  it("leave out amounts that are no quantities, so that they are missing and not zero", () => {
    expect(readAmounts({ cpu: "much", memory: "1", "hugepages-2Mi": null })).toEqual({
      memory: 1000n,
    });
    expect(readAmounts(undefined)).toEqual({});
    expect(readMilli(0.0015)).toBe(2n);
    expect(readMilli(true)).toBeUndefined();
  });
});

describe("the readers of scales", () => {
  it("read a Scale; a count of zero may be left out", () => {
    const metadata = { uid: "u1", resourceVersion: "42", generation: 3 };
    expect(
      scaleReadingOf({
        metadata,
        spec: { replicas: 5 },
        status: { replicas: 4, selector: "app=web" },
      }),
    ).toEqual({
      kind: "read",
      uid: "u1",
      resourceVersion: "42",
      generation: 3,
      specReplicas: 5,
      statusReplicas: 4,
      selector: "app=web",
    });
    expect(scaleReadingOf({})).toEqual({
      kind: "read",
      uid: "",
      resourceVersion: "",
      specReplicas: 0,
      statusReplicas: 0,
      selector: "",
    });
  });

  it("read the scale of a workload from its own object, as its subresource would say it", () => {
    const selector = {
      matchLabels: { tier: "x", app: "web" },
      matchExpressions: [{ key: "dead", operator: "DoesNotExist" }],
    };
    const workload = {
      metadata: { uid: "u1", resourceVersion: "42" },
      spec: { replicas: 0, selector },
      status: { replicas: 2 },
    };
    expect(readWorkloadScale(workload)).toEqual({
      kind: "read",
      uid: "u1",
      resourceVersion: "42",
      specReplicas: 0,
      statusReplicas: 2,
      selector: "app=web,!dead,tier=x",
    });
  });

  it("say that pods of a workload are refused only while its controller says so", () => {
    const failure = (more: object) => ({
      status: {
        conditions: [
          { type: "Available", status: "True", reason: "MinimumReplicasAvailable", message: "yes" },
          { type: "ReplicaFailure", status: "True", ...more },
        ],
      },
    });
    const quota = { reason: "FailedCreate", message: 'pods "web-1" is forbidden: exceeded quota' };
    expect(readWorkloadScale(failure(quota))).toMatchObject({ podsRefused: quota });
    for (const none of [failure({ ...quota, status: "False" }), { status: { conditions: "x" } }])
      expect(readWorkloadScale(none)).not.toHaveProperty("podsRefused");
    const hostile = { reason: "a b\u001b", message: "\u202Etxet\u001b[31m".repeat(500) };
    const read = readWorkloadScale(failure(hostile));
    expect(read).toMatchObject({ podsRefused: { reason: "ReplicaFailure" } });
    expect(JSON.stringify(read)).not.toMatch(/\u202E|\\u001b/);
    expect(JSON.stringify(read).length).toBeLessThan(1_000);
  });

  it("refuse a selector of more characters than are compared with pods, in each form", () => {
    const [few, many] = [16_000, 17_000].map((count) => "x".repeat(count));
    const refused = { kind: "failed", failure: { reason: "SelectorTooLarge" } };
    expect(scaleReadingOf({ status: { selector: `a=${many}` } })).toMatchObject(refused);
    expect(scaleReadingOf({ status: { selector: `a=${few}` } })).toMatchObject({ kind: "read" });
    expect(readWorkloadScale({ spec: { selector: { a: many } } })).toMatchObject(refused);
    expect(readWorkloadScale({ spec: { selector: { matchLabels: { a: few } } } })).toMatchObject({
      kind: "read",
    });
    expect(
      readWorkloadScale({
        spec: {
          selector: { matchExpressions: [{ key: "a", operator: "In", values: [few, many] }] },
        },
      }),
    ).toMatchObject(refused);
  });

  it("read a ReplicationController's map of labels; an absent count is 1", () => {
    expect(readWorkloadScale({ spec: { selector: { b: "2", a: "1" } } })).toMatchObject({
      specReplicas: 1,
      statusReplicas: 0,
      selector: "a=1,b=2",
    });
    expect(
      readWorkloadScale({
        spec: { selector: { matchExpressions: [{ key: "a", operator: "Sort" }] } },
      }),
    ).toMatchObject({ selector: "" });
    expect(readWorkloadScale({ spec: { replicas: "many" } })).toMatchObject({ specReplicas: 1 });
  });

  it("read the Status of a refusal", () => {
    expect(readFailure({ code: 403, reason: "Forbidden", message: "no" })).toEqual({
      code: 403,
      reason: "Forbidden",
      message: "no",
    });
    expect(readFailure("what")).toEqual({ code: 0, reason: "", message: "" });
  });

  it("name the kind that nothing maps", () => {
    expect(unknownKind("Teapot", "kitchen.example.com").message).toBe(
      'unable to map kind Teapot.kitchen.example.com to resource: no matches for kind "Teapot" in group "kitchen.example.com"',
    );
    expect(unknownKind("Teapot", "")).toEqual({
      code: 404,
      reason: "NotFound",
      message: 'unable to map kind Teapot to resource: no matches for kind "Teapot" in group ""',
    });
  });
});

describe("readWindow() and readTime()", () => {
  it.each([
    ["30s", 30_000],
    ["1m0s", 60_000],
    ["1h2m3s", 3_723_000],
    ["10.02s", 10_020],
    [".5s", 500],
    ["250ms", 250],
    ["1500us", 1.5],
    ["1µs", 0.001],
    ["5ns", 0.000_005],
    ["0", 0],
  ])("%s is %d ms", (text, expected) => {
    expect(readWindow(text)).toBeCloseTo(expected, 9);
  });

  it.each(["", "5", "s", "5 s", "5sx", "x5s", "-5s", undefined, 5, null])(
    "%j is no duration",
    (raw) => {
      expect(readWindow(raw)).toBeUndefined();
    },
  );

  it("reads RFC 3339", () => {
    expect(readTime("2026-05-01T12:00:00.5Z")).toBe(AT_MS + 500);
    expect(readTime("soon")).toBeUndefined();
    expect(readTime(undefined)).toBeUndefined();
  });
});

describe("the readers of JSON", () => {
  it("give empty values for what is of another type", () => {
    expect([asObject([]), asObject(null), asObject("x")]).toEqual([{}, {}, {}]);
    expect([asList({}), asText(5), asCount("5"), asCount(1.5), asCount(Number.NaN)]).toEqual([
      [],
      "",
      undefined,
      undefined,
      undefined,
    ]);
    expect([asObject({ a: 1 }), asList([1]), asText("x"), asCount(-3)]).toEqual([
      { a: 1 },
      [1],
      "x",
      -3,
    ]);
  });

  it("keep texts of a map and drop the rest", () => {
    const labels = { a: "1" };
    expect(asTexts(labels)).toBe(labels);
    expect(asTexts({ a: "1", b: 2, c: null })).toEqual({ a: "1" });
  });
});
