import { describe, expect, it } from "vitest";
import { admit, admitOrThrow, specOf } from "../../lib/rules/manifest/admit.ts";
import { readManifests } from "../../lib/rules/manifest/documents.ts";
import { TidemarkError } from "../../lib/rules/model/errors.ts";
import { admitted, faults, faultsOf, hpaSpec, refused, v2 } from "./manifests.ts";

const thrownBy = (act: () => unknown): TidemarkError => {
  try {
    act();
  } catch (error) {
    if (error instanceof TidemarkError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
};

const resource = (target: Readonly<Record<string, unknown>>) => [
  { type: "Resource", resource: { name: "cpu", target } },
];
const scaleUp = (rules: Readonly<Record<string, unknown>>) => v2({ behavior: { scaleUp: rules } });
const policy = (members: Readonly<Record<string, unknown>>) =>
  scaleUp({ policies: [{ type: "Pods", value: 1, periodSeconds: 1, ...members }] });

describe("admit() at its limits (hpa.md 1.3)", () => {
  it.each([
    [
      "minReplicas",
      1,
      [],
      0,
      [
        "spec.metrics Forbidden must specify at least one Object or External metric to support scaling to zero replicas",
      ],
    ],
    [
      "maxReplicas",
      1,
      [],
      0,
      [
        "spec.maxReplicas Invalid must be greater than or equal to `minReplicas`",
        "spec.maxReplicas Required",
      ],
    ],
    [
      "maxReplicas",
      2_147_483_647,
      [],
      2_147_483_648,
      ["spec.maxReplicas TypeInvalid must be a whole number below 2147483648, not 2147483648"],
    ],
    [
      "minReplicas",
      10,
      [],
      11,
      ["spec.maxReplicas Invalid must be greater than or equal to `minReplicas`"],
    ],
  ])("%s: %d gives %j, %d gives %j", (name, inside, none, outside, wanted) => {
    expect(faultsOf(v2({ [name]: inside }))).toEqual(none);
    expect(faultsOf(v2({ [name]: outside }))).toEqual(wanted);
  });

  it.each([
    [
      "window",
      (value: number) => scaleUp({ stabilizationWindowSeconds: value }),
      0,
      3600,
      "zero",
      "3600",
    ],
    ["period", (value: number) => policy({ periodSeconds: value }), 1, 1800, "zero", "1800"],
    ["value", (value: number) => policy({ value }), 1, 2_147_483_647, "zero", ""],
    [
      "utilization",
      (value: number) =>
        v2({ metrics: resource({ type: "Utilization", averageUtilization: value }) }),
      1,
      2_147_483_647,
      "0",
      "",
    ],
  ])("%s: below, at and above", (_, at, least, most, floor, ceiling) => {
    expect([faultsOf(at(least)), faultsOf(at(most))]).toEqual([[], []]);
    expect(faultsOf(at(least - 1)).join()).toMatch(
      new RegExp(`Invalid must be greater than (or equal to )?${floor}$`),
    );
    if (ceiling !== "")
      expect(faultsOf(at(most + 1)).join()).toMatch(
        new RegExp(`Invalid must be less than or equal to ${ceiling}$`),
      );
  });

  it.each([
    ["-1n", ["spec.behavior.scaleUp.tolerance Invalid must be greater than or equal to 0"]],
    ["0", []],
    ["1n", []],
    ["1e9", []],
  ])("tolerance %s gives %j", (tolerance, wanted) =>
    expect(faultsOf(scaleUp({ tolerance }))).toEqual(wanted),
  );

  it.each([
    ["0", ["spec.metrics[0].resource.target.averageValue Invalid must be positive"]],
    ["-1n", ["spec.metrics[0].resource.target.averageValue Invalid must be positive"]],
    ["0.0000000001", []],
    [" 250m ", []],
    ["9223372036854775", []],
    // The API takes it, and the controller cuts it to 64 bits of thousandths.
    [
      "9".repeat(256),
      [
        "spec.metrics[0].resource.target.averageValue Invalid must be at most 9223372036854775807 thousandths",
      ],
    ],
    [250, []],
    [9_007_199_254_740_991, []],
    [
      9_007_199_254_740_992,
      [
        "spec.metrics[0].resource.target.averageValue TypeInvalid must be at most 9007199254740991 without quotes, because a larger number is rounded when it is read, not 9007199254740992",
      ],
    ],
    [
      "250M i",
      [
        'spec.metrics[0].resource.target.averageValue TypeInvalid must be a quantity such as 80, "250m" or "1500Mi", not "250M i"',
      ],
    ],
    [
      true,
      [
        'spec.metrics[0].resource.target.averageValue TypeInvalid must be a quantity such as 80, "250m" or "1500Mi", not true',
      ],
    ],
  ])("averageValue %j gives %j", (averageValue, wanted) =>
    expect(faultsOf(v2({ metrics: resource({ type: "AverageValue", averageValue }) }))).toEqual(
      wanted,
    ),
  );

  it.each(["9".repeat(257), `${"9".repeat(254)}e5`])(
    "refuses a quantity of more than 256 characters, written or stored: %s",
    (averageValue) =>
      expect(faults(v2({ metrics: resource({ type: "AverageValue", averageValue }) }))[0]).toMatch(
        /averageValue TypeInvalid must be a quantity/,
      ),
  );

  it.each([
    ["63 letters of a label's value", { labels: { app: "x".repeat(63) } }, []],
    [
      "64 letters of a label's value",
      { labels: { app: "x".repeat(64) } },
      ["metadata.labels Invalid must be no more than 63 characters"],
    ],
    ["63 letters of a label's name", { labels: { [`a.b/${"x".repeat(63)}`]: "" } }, []],
    [
      "64 letters of a label's name",
      { labels: { ["x".repeat(64)]: "" } },
      ["metadata.labels Invalid name part must be no more than 63 characters"],
    ],
    [
      "an empty prefix",
      { labels: { "/a": "" } },
      ["metadata.labels Invalid prefix part must be non-empty"],
    ],
    ["253 letters of a name", { name: "x".repeat(253) }, []],
    [
      "254 letters of a name",
      { name: "x".repeat(254) },
      ["metadata.name Invalid must be no more than 253 characters"],
    ],
    ["256 KiB of annotations", { annotations: { a: "x".repeat(262_143) } }, []],
    [
      "a byte more of annotations",
      { annotations: { a: "ü".repeat(131_072) } },
      ["metadata.annotations TooLong may not be more than 262144 bytes"],
    ],
  ])("%s", (_, metadata, wanted) => expect(faultsOf(v2({}, metadata))).toEqual(wanted));

  it("refuses a name with two slashes and an empty name part, in the API's words", () => {
    const [twice, empty] = [
      faults(v2({}, { labels: { "a/b/c": "" } })),
      faults(v2({}, { annotations: { "a/": "" } })),
    ];
    expect(twice[0]).toMatch(
      /^metadata.labels Invalid a qualified name must consist of .* with an optional DNS subdomain prefix and '\/' \(e\.g\. 'example\.com\/MyName'\)$/,
    );
    expect(empty[0]).toBe("metadata.annotations Invalid name part must be non-empty");
  });

  it.each([
    ["cpu", []],
    ["hugepages-2Mi", []],
    ["example.com/gpu", []],
    ["kubernetes.io/batch", []],
    ["requests.cpu", ["must be a standard resource for containers"]],
    ["requests.hugepages-2Mi", ["must be a standard resource for containers"]],
    [
      "gpu",
      [
        "must be a standard resource for containers",
        "must be a standard resource type or fully qualified",
      ],
    ],
    ["requests.example.com/gpu", ["doesn't follow extended resource name standard"]],
  ])("a container's resource %s gives %j", (name, details) => {
    const metrics = [
      {
        type: "ContainerResource",
        containerResource: {
          name,
          container: "app",
          target: { type: "Utilization", averageUtilization: 1 },
        },
      },
    ];
    const problems = faultsOf(v2({ metrics })).map((fault) =>
      fault.replace("spec.metrics[0].containerResource.name Invalid ", ""),
    );
    expect(problems).toEqual(details);
  });
});

describe("admit()", () => {
  it("reports all problems of a manifest at once, each with what to write instead", () => {
    const { because, problems } = refused(
      v2(
        {
          minReplicas: 5,
          maxReplicas: 2,
          scaleTargetRef: { kind: "Deployment" },
          metrics: [{ type: "Pods", pods: {} }],
        },
        { name: "Web" },
      ),
    );
    expect(because).toBe("invalid");
    expect(new Set(problems.map(({ field }) => field))).toEqual(
      new Set([
        "metadata.name",
        "spec.maxReplicas",
        "spec.scaleTargetRef.name",
        "spec.scaleTargetRef.apiVersion",
        "spec.metrics[0].pods.metric.name",
        "spec.metrics[0].pods.target.type",
        "spec.metrics[0].pods.target.averageValue",
      ]),
    );
    for (const { fix } of problems) expect(fix).not.toBe("");
  });

  it("reports what cannot be read together with the rules that other fields break", () => {
    const { because, problems } = refused(
      v2({ maxReplicas: "5", metrics: [{ type: "Pods", pods: { target: "fast" } }] }),
    );
    expect(because).toBe("undecodable");
    expect(problems.map(({ field, detail }) => `${field} ${detail}`)).toEqual([
      'spec.maxReplicas must be a whole number below 2147483648, not "5"',
      'spec.metrics[0].pods.target must be an object, not "fast"',
      "spec.metrics[0].pods.metric.name must specify a metric name",
    ]);
  });

  it("does not blame a rule's field when its neighbour could not be read", () => {
    const metrics = [
      {
        type: "External",
        external: { metric: { name: "lag" }, target: { type: "Value", value: "x" } },
      },
    ];
    expect(faults(v2({ metrics }))).toEqual([
      'spec.metrics[0].external.target.value TypeInvalid must be a quantity such as 80, "250m" or "1500Mi", not "x"',
    ]);
  });

  it("takes no longer than reading them to tell the faults of a list from what could not be read of it", () => {
    const metrics = Array.from({ length: 30_000 }, (_, index) => (index % 2 === 0 ? 5 : {}));
    const { problems } = refused(v2({ metrics }));
    expect(problems.filter(({ type }) => type === "FieldValueTypeInvalid")).toHaveLength(15_000);
    expect(problems).toHaveLength(45_000);
  });

  it("warns of unknown fields with their path and the nearest known name", () => {
    const { warnings } = admitted(
      v2({
        minReplica: 2,
        behaviour: {},
        surprise: {},
        metrics: resource({ type: "Utilization", averageutilization: 3, averageUtilization: 4 }),
      }),
    );
    expect(warnings.map(({ refusal: _strict, ...warning }) => warning)).toEqual([
      {
        field: "spec.minReplica",
        message: 'unknown field "spec.minReplica" is ignored',
        fix: 'write "minReplicas" if that is meant',
        meant: "spec.minReplicas",
      },
      {
        field: "spec.behaviour",
        message: 'unknown field "spec.behaviour" is ignored',
        fix: 'write "behavior" if that is meant',
        meant: "spec.behavior",
      },
      {
        field: "spec.surprise",
        message: 'unknown field "spec.surprise" is ignored',
        fix: "remove it",
      },
      {
        field: "spec.metrics[0].resource.target.averageutilization",
        message: 'unknown field "spec.metrics[0].resource.target.averageutilization" is ignored',
        fix: 'write "averageUtilization" if that is meant',
        meant: "spec.metrics[0].resource.target.averageUtilization",
      },
    ]);
  });

  it("takes minus zero for zero", () =>
    expect(
      Object.is(
        admitted(v2({ behavior: { scaleUp: { stabilizationWindowSeconds: -0 } } })).spec.behavior
          ?.scaleUp.stabilizationWindowSeconds,
        0,
      ),
    ).toBe(true));

  it("keeps the number of warnings small", () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`field${index}`, 1]),
    );
    expect(admitted(v2(many)).warnings).toHaveLength(50);
  });

  it("takes a manifest that was read back from a cluster, without a warning", () => {
    const metadata = {
      uid: "0b2c",
      resourceVersion: "17",
      generation: 4,
      creationTimestamp: "2026-01-01T00:00:00Z",
      managedFields: [{ manager: "kubectl" }],
      ownerReferences: [],
      finalizers: [],
      selfLink: "",
    };
    expect(admitted({ ...v2({}, metadata), status: { currentReplicas: 3 } }).warnings).toEqual([]);
  });

  it.each([
    ["null", null, "the manifest must be an object, not null"],
    ["a number", 5, "the manifest must be an object, not 5"],
    ["a list", [], "the manifest must be an object, not a list"],
  ])("refuses %s", (_, document, clause) => {
    const error = thrownBy(() => admitOrThrow({ document, where: "hpa.yaml" }));
    expect([error.code, error.message]).toEqual([
      "manifest.invalid",
      `Cannot accept "hpa.yaml": ${clause}; write an object`,
    ]);
  });

  it("needs apiVersion and kind as texts", () => {
    expect(faults({})).toEqual(["apiVersion Required", "kind Required"]);
    expect(faults({ apiVersion: 2, kind: [] })).toEqual([
      "apiVersion TypeInvalid must be a text, not 2",
      "kind TypeInvalid must be a text, not a list",
    ]);
  });
});

describe("admit() of an update", () => {
  const old = v2();

  it("raises the generation when the spec changes", () => {
    const { stored, changed } = admitted(v2({ maxReplicas: 11 }), { old, oldGeneration: 4 });
    expect([stored["metadata"], changed]).toEqual([
      { name: "web", namespace: "shop", generation: 5 },
      true,
    ]);
  });

  it.each([
    ["the same", v2()],
    [
      "defaults written out",
      v2({ minReplicas: 1, metrics: resource({ type: "Utilization", averageUtilization: 80 }) }),
    ],
    ["labels", v2({}, { labels: { team: "a" } })],
    ["another form", { ...v2(), apiVersion: "autoscaling/v2beta2" }],
  ])("keeps the generation for %s", (_, document) => {
    const { stored, changed } = admitted(document, { old, oldGeneration: 4 });
    expect(changed).toBe(false);
    expect(stored).toMatchObject({ metadata: { generation: 4 } });
  });

  it("takes quantities of the same amount for the same", () => {
    const at = (averageValue: string) =>
      v2({ metrics: resource({ type: "AverageValue", averageValue }) });
    expect(admitted(at("1e3"), { old: at("1k") }).changed).toBe(false);
    expect(admitted(at("1n"), { old: at("2n") }).changed).toBe(true);
  });

  it("refuses another name or namespace", () =>
    expect(faults(v2({}, { name: "api", namespace: "other" }), { old })).toEqual([
      "metadata.name Invalid field is immutable",
      "metadata.namespace Invalid field is immutable",
    ]));

  it("is judged alone where the old manifest is of no accepted form", () =>
    expect(admitted(v2(), { old: { apiVersion: "v1", kind: "Pod" } }).changed).toBe(true));
});

describe("admitOrThrow()", () => {
  const text =
    "kind: HorizontalPodAutoscaler\napiVersion: autoscaling/v2\nmetadata:\n  name: web\nspec:\n  maxReplica: 3\n  scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}\n";

  it("names the file, the line, the first field, the fix, and how many problems are left", () => {
    const [given] = readManifests(text, "hpa.yaml");
    const error = thrownBy(() => given && admitOrThrow(given));
    expect([error.name, error.code, error.message]).toEqual([
      "TidemarkError",
      "manifest.invalid",
      'Cannot accept "web" of "hpa.yaml", line 5: spec.maxReplicas is required; rename "spec.maxReplica" to "spec.maxReplicas"',
    ]);
    expect(error.details).toMatchObject({
      where: "hpa.yaml",
      name: "web",
      problems: [{ field: "spec.maxReplicas", line: 5 }],
    });
  });

  it.each([
    [
      "a single problem",
      { maxReplicas: -1, minReplicas: -1 },
      "spec.minReplicas must be greater than or equal to 0; write 1 or more, or 0 to allow scaling to zero (and 1 further problem)",
    ],
    [
      "one of a closed set",
      { behavior: { scaleUp: { selectPolicy: "max" } } },
      'spec.behavior.scaleUp.selectPolicy is not one of the supported values: "Disabled", "Max", "Min"; write one of "Disabled", "Max", "Min"',
    ],
    [
      "words of the API",
      { scaleTargetRef: { kind: "Deployment", name: "web", apiVersion: "a/b/c" } },
      "spec.scaleTargetRef.apiVersion: unexpected GroupVersion string: a/b/c; write group/version, such as apps/v1",
    ],
  ])("speaks plainly of %s", (_, spec, words) => {
    const error = thrownBy(() => admitOrThrow({ document: v2(spec), where: "hpa.yaml" }));
    expect(error.message).toBe(`Cannot accept "web" of "hpa.yaml": ${words}`);
  });

  it("leaves patterns out of the sentence and keeps them in the details", () => {
    const error = thrownBy(() =>
      admitOrThrow({ document: v2({}, { name: "Web" }), where: "hpa.yaml" }),
    );
    expect(error.message).toBe(
      "Cannot accept \"Web\" of \"hpa.yaml\": metadata.name: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character; use small letters, digits, - and . only, at most 253 of them",
    );
    expect(JSON.stringify(error.details)).toContain("regex used for validation");
  });

  it.each([
    ["WatermarkNothing", "example.com/v1"],
    ["HorizontalPodAutoscaler", "autoscaling/v3"],
    ["Deployment", "apps/v1"],
  ])("refuses kind %s of %s and names what is accepted", (kind, apiVersion) => {
    const error = thrownBy(() =>
      admitOrThrow({ document: { ...v2(), kind, apiVersion }, where: "hpa.yaml" }),
    );
    expect(error.code).toBe("manifest.unsupported");
    expect(error.message).toMatch(
      new RegExp(
        `^Cannot accept "web" of "hpa.yaml": kind "${kind}" of "${apiVersion}" is not accepted; write HorizontalPodAutoscaler of autoscaling/v2, `,
      ),
    );
    expect(error.details).toMatchObject({
      kind,
      apiVersion,
      where: "hpa.yaml",
      problems: [{ field: kind === "HorizontalPodAutoscaler" ? "apiVersion" : "kind" }],
    });
  });
});

describe("specOf()", () => {
  it("converts a stored manifest", () =>
    expect(specOf(JSON.stringify(v2()))).toEqual(admitted(v2()).spec));

  it.each([
    ["{", "manifest.unreadable", /^Cannot read "stored manifest": it is not JSON$/],
    [
      "{}",
      "manifest.invalid",
      /^Cannot accept "stored manifest": apiVersion is required; write apiVersion: autoscaling\/v2 \(and 1 further problem\)$/,
    ],
    [
      '{"apiVersion": "v1", "kind": "Pod"}',
      "manifest.unsupported",
      /^Cannot accept "stored manifest": kind "Pod" of "v1" is not accepted; /,
    ],
  ])("refuses %s", (manifest, code, words) => {
    const error = thrownBy(() => specOf(manifest));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(words);
  });

  it("gives every metric type to the rules, quantities in thousandths", () => {
    const metric = {
      name: "lag",
      selector: {
        matchLabels: { b: "1", a: "2" },
        matchExpressions: [
          { key: "x", operator: "Sort" },
          { key: "y", operator: "In", values: ["d", "c"] },
        ],
      },
    };
    const { metrics } = specOf(
      JSON.stringify(
        v2({
          metrics: [
            { type: "External", external: { metric, target: { type: "Value", value: "1500u" } } },
            {
              type: "Pods",
              pods: {
                metric: { name: "rps", selector: {} },
                target: { type: "AverageValue", averageValue: "2k" },
              },
            },
            {
              type: "Object",
              object: {
                describedObject: { apiVersion: "v1", kind: "Service", name: "web" },
                metric: { name: "hits" },
                target: { type: "Value", value: 3, averageValue: "1Ki" },
              },
            },
            {
              type: "ContainerResource",
              containerResource: {
                name: "memory",
                container: "app",
                target: { type: "AverageValue", averageValue: "1Gi" },
              },
            },
          ],
        }),
      ),
    );
    expect(metrics).toEqual([
      { type: "External", metric, target: { type: "Value", valueMilli: 2n } },
      {
        type: "Pods",
        metric: { name: "rps", selector: {} },
        target: { type: "AverageValue", averageValueMilli: 2_000_000n },
      },
      {
        type: "Object",
        describedObject: { apiVersion: "v1", kind: "Service", name: "web" },
        metric: { name: "hits" },
        target: { type: "Value", valueMilli: 3_000n, averageValueMilli: 1_024_000n },
      },
      {
        type: "ContainerResource",
        name: "memory",
        container: "app",
        target: { type: "AverageValue", averageValueMilli: 1_073_741_824_000n },
      },
    ]);
  });

  it("gives tolerances as the doubles of hpa.md 3.1", () => {
    const behavior = { scaleUp: { tolerance: "0.061" }, scaleDown: { tolerance: "0.0001" } };
    const { behavior: read } = hpaSpec(specOf(JSON.stringify(v2({ behavior }))));
    expect([read?.scaleUp.tolerance, read?.scaleDown.tolerance]).toEqual([
      61 * 0.001,
      100 * 0.000001,
    ]);
  });
});

it("admit() keeps the forms it was asked for", () =>
  expect(admit({ ...v2(), apiVersion: "autoscaling/v2beta2" }, { forms: [] }).ok).toBe(false));
