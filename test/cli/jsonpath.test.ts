import { describe, expect, it } from "vitest";
import { printTemplate } from "../../lib/command/jsonpath/format.ts";
import { parseTemplate } from "../../lib/command/jsonpath/template.ts";

const DOCUMENT = {
  apiVersion: "x.y/v1",
  kind: "Thing",
  metadata: { name: "web", labels: { app: "web", "app.kubernetes.io/name": "x" } },
  spec: {
    minReplicas: 2,
    maxReplicas: 10,
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    metrics: [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
      },
      {
        type: "Resource",
        resource: { name: "memory", target: { type: "AverageValue", averageValue: "500Mi" } },
      },
      {
        type: "Pods",
        pods: { metric: { name: "rps" }, target: { type: "AverageValue", averageValue: "1k" } },
      },
    ],
  },
  status: {
    conditions: [
      { type: "AbleToScale", status: "True" },
      { type: "ScalingActive", status: "False" },
    ],
  },
  nested: {
    list: [1, 2, 3],
    none: null,
    yes: true,
    pi: 1.5,
    empty: "",
    emptyList: [],
    matrix: [
      [1, 2],
      [3, 4],
    ],
    html: "<a&b>",
    obj: { b: 1, a: "<x>" },
    "dash-ed": "d",
  },
};

const print = (template: string): string => printTemplate(parseTemplate(template), DOCUMENT);

describe("-o jsonpath", () => {
  // Each pair was printed by kubectl 1.32 for this document.
  it.each([
    ["{.metadata.name}", "web"],
    [".metadata.name", ".metadata.name"],
    ["{@.metadata.name}", "web"],
    ["{$.metadata.name}", "web"],
    [String.raw`{.metadata.labels.app\.kubernetes\.io/name}`, "x"],
    [String.raw`{.metadata.labels['app\.kubernetes\.io/name']}`, "x"],
    ["{.spec.metrics[*].type}", "Resource Resource Pods"],
    ["{.spec.metrics[0,2].type}", "Resource Pods"],
    ["{.spec.metrics[-1].type}", "Pods"],
    ["{.spec.metrics[-1:].type}", "Pods"],
    ["{.spec.metrics[0:2].type}", "Resource Resource"],
    ["{.spec.metrics[::2].type}", "Resource Pods"],
    ["{.spec.metrics[].type}", "Resource"],
    ["{.spec..name}", "web cpu memory rps"],
    ["{..metric.name}", "rps"],
    ["{.spec.metrics[*].resource.name}", "cpu memory"],
    [
      String.raw`{range .spec.metrics[*]}{.type}{"\t"}{.resource.name}{"\n"}{end}`,
      "Resource\tcpu\nResource\tmemory\nPods\t\n",
    ],
    ["{range .spec.metrics[*]}{.type}", "ResourceResourcePods"],
    [
      "{range .spec.metrics[*]}{range .resource.target.*}[{@}]{end}{end}",
      "[Utilization][60][AverageValue][500Mi]",
    ],
    [
      "{range .spec.metrics[*]}{.type}:{range .nothing[*]}x{end};{end}",
      "Resource:;Resource:;Pods:;",
    ],
    ["{range .nested.list[*]}{@},{end}", "1,2,3,"],
    ['{.spec.metrics[?(@.type=="Resource")].resource.name}', "cpu memory"],
    ["{.spec.metrics[?(@.type!='Resource')].type}", "Pods"],
    ["{.spec.metrics[?(@.type=='Pods')]['type']}", "Pods"],
    ['{.spec.metrics[?("Pods"==@.type)].type}', "Pods"],
    ["{.spec.metrics[?(@.resource)].type}", "Resource Resource"],
    ["{.spec.metrics[?(@.resource.target.averageUtilization>50)].type}", "Resource"],
    ["{.spec.metrics[?(@.resource.target.averageUtilization>=60)].resource.name}", "cpu"],
    ["{.spec.metrics[?(@.resource.target.averageUtilization==60)].type}", "Resource"],
    ['{.status.conditions[?(@.type=="ScalingActive")].status}', "False"],
    ["{.spec.scaleTargetRef}", '{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}'],
    [
      "{.spec.metrics[*].resource.target}",
      '{"averageUtilization":60,"type":"Utilization"} {"averageValue":"500Mi","type":"AverageValue"}',
    ],
    ["{.spec['minReplicas','maxReplicas']}", "2 10"],
    ["{.spec['minReplicas', 'maxReplicas']}", "2 10"],
    ["{.spec.minReplicas}-{.spec.maxReplicas}", "2-10"],
    ["min {.spec.minReplicas}, {.nothing} end", "min 2,  end"],
    [String.raw`{"quoted \"x\" \n"}`, 'quoted "x" \n'],
    ["{'single'}", "single"],
    [`{"a'b"}`, "a'b"],
    ["{.spec.metrics[0].resource['name']}", "cpu"],
    ["{.spec.metrics.type}", ""],
    ["{.metadata.name}}", "web}"],
    ["{.metadata.name}{.spec.metrics[1:1].type}", "web"],
    ["{.spec.metrics[0]['resource']['name','type']}", "cpu"],
    ["{.nested.list}", "[1,2,3]"],
    ["{.nested.none}", "null"],
    ["{.nested.yes}", "true"],
    ["{.nested.pi}", "1.5"],
    ["{.nested.empty}x{.nested.emptyList}", "x[]"],
    ["{.nested.list[*]}", "1 2 3"],
    ["{.nested.matrix[*][0]}", "1 3"],
    ["{.nested.matrix[*][*]}", "1 2 3 4"],
    ["{..matrix[0][1]}", "2"],
    ["{.nested.list[0:-1]}", "1 2"],
    ["{.nested.list[?(@>1)]}", "2 3"],
    ["{.metadata.name.foo}", ""],
    ["{.metadata['name','namespace']}", "web"],
    ["{.nested.html}", "<a&b>"],
    ["{.nested.obj}", String.raw`{"a":"\u003cx\u003e","b":1}`],
    ["{.x-y}{.nested.dash-ed}", "d"],
  ])("prints %s as kubectl does", (template, printed) => {
    expect(print(template)).toBe(printed);
  });

  it("prints the whole document with {}", () => {
    expect(JSON.parse(print("{}"))).toEqual(DOCUMENT);
  });

  it.each([
    ["{.metadata.name", '"{.metadata.name" has no closing brace'],
    ["{metadata.name}", '"metadata.name" is no path: a path begins with a point'],
    ["{end}", "{end} ends no {range}"],
    ["{range}x{end}", '"range" is no path: a path begins with a point'],
    ["{.spec.metrics[a].type}", '"[a]" is no index, slice, filter or name in single quotes'],
    [
      '{.spec.metrics[?(@.type=="Resource" && @.x)].type}',
      "&& or ||, which the dialect of kubectl does not know",
    ],
    ["{.spec.metrics[::0].type}", '"[::0]" has a step that is not above 0'],
    ["{.metadata.name()}", '"()" is no step of a path'],
    ["{.metadata.constructor.constructor('return process')()}", "is no step of a path"],
  ])("refuses %s before anything is opened", (template, problem) => {
    expect(() => parseTemplate(template)).toThrow(
      expect.objectContaining({ code: "cli.usage", message: expect.stringContaining(problem) }),
    );
  });

  it.each([
    ["{.spec.metrics[5].type}", "index 5 is outside of a list of 3"],
    ["{.spec.metrics[1:9].type}", "index 8 is outside of a list of 3"],
    ["{.metadata.name[0]}", 'an index needs a list, and there is "web"'],
    ["{.nested[*]}", "[*] needs a list, and there is an object"],
    ["{.spec.metrics[?(@.type<3)].type}", '"Resource" < 3 compares different types'],
  ])("says what a value is that %s cannot take", (template, problem) => {
    expect(() => print(template)).toThrow(
      expect.objectContaining({
        code: "cli.jsonpath",
        message: `Cannot print -o jsonpath: ${problem}`,
      }),
    );
  });

  it("reads no member that an object inherits", () => {
    expect(print("{.constructor}{.metadata.__proto__}{..toString}")).toBe("");
  });
});
