import { amount, group, integer, list, texts, words } from "../fields/field-types.ts";
import { invalid as wrong, type Problem, required } from "../fields/problem.ts";
import { isObject } from "../model/is-object.ts";
import { mathFault } from "./metric-math.ts";
import type { SourceRule } from "./source.ts";

const STAT_FIELDS = {
  namespace: words("Namespace of the metric: AWS/SQS."),
  metric: words("Name of the metric: ApproximateAgeOfOldestMessage."),
  dimensions: texts("The value of each dimension; all dimensions of the metric are needed."),
  stat: words("The statistic: Average, Sum, Minimum, Maximum, SampleCount, or such as p99.", { default: "Average" }),
  accountId: words("The account of the metric, where the account of the role monitors it."),
};

/** The block `cloudwatch` of a metric. */
export const CLOUDWATCH_FIELDS = {
  source: words("Name of the registered source (docs/sources.md).", { required: true, segment: true }),
  ...STAT_FIELDS,
  expression: words("Metric math over the ids of inputs: errors / requests. In place of a metric."),
  inputs: list(
    "The metrics of the expression.",
    group("One metric of the expression.", {
      id: words("Its name in the expression: a small letter, then letters, digits and _.", { required: true }),
      ...STAT_FIELDS,
    }),
    { id: "", stat: "Average" },
    { mostItems: 20, key: "id" },
  ),
  periodSeconds: integer(
    "The time of one value: 1, 5, 10, 20, 30 or a multiple of 60. It is asked once in this time unless everySeconds says otherwise.",
    {
      least: 1,
      most: 3_600,
      default: 60,
    },
  ),
  lookbackSeconds: integer("The newest value of this time counts; by default 300 or three periods, whichever is more.", { least: 1, most: 10_800 }),
  offsetSeconds: integer("How long before now the time ends, where newer values are not complete yet.", { least: 0, most: 3_600, default: 0 }),
  whenEmpty: amount("The value where the time holds none. Without it the metric is then missing."),
};

/** A metric as a manifest writes it. */
export interface StatRead {
  readonly id?: string | undefined;
  readonly namespace?: string | undefined;
  readonly metric?: string | undefined;
  readonly dimensions?: Readonly<Record<string, string>> | undefined;
  readonly stat?: string | undefined;
  readonly accountId?: string | undefined;
}

type Block = Readonly<Record<string, unknown>>;

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== "";

/** A rule about the block `cloudwatch` of a metric. */
const ofBlock =
  (problems: (block: Block, path: string) => readonly Problem[]): SourceRule["problems"] =>
  ({ cloudwatch }, path) =>
    isObject(cloudwatch) ? problems(cloudwatch, `${path}.cloudwatch`) : [];

const OF_METRIC = ["namespace", "metric", "dimensions", "accountId"] as const;

const metricOrExpression: SourceRule = {
  says: "cloudwatch has either namespace and metric, or an expression with inputs",
  cel: "!has(self.cloudwatch) || (has(self.cloudwatch.expression) && self.cloudwatch.expression != '' ? !has(self.cloudwatch.namespace) && !has(self.cloudwatch.metric) && !has(self.cloudwatch.dimensions) && !has(self.cloudwatch.accountId) : has(self.cloudwatch.namespace) && has(self.cloudwatch.metric) && !has(self.cloudwatch.inputs))",
  problems: ofBlock((block, path) => {
    if (isGiven(block["expression"]))
      return OF_METRIC.filter((name) => isGiven(block[name])).map((name) =>
        wrong(`${path}.${name}`, "may not be set together with expression", "write it for an input of the expression"),
      );
    return [
      ...(["namespace", "metric"] as const)
        .filter((name) => !isGiven(block[name]))
        .map((name) => required(`${path}.${name}`, "", "write namespace and metric, or an expression with inputs")),
      ...(isGiven(block["inputs"])
        ? [wrong(`${path}.inputs`, "may only be set with expression", "write the expression, or one metric without inputs")]
        : []),
    ];
  }),
};

const PERIODS: ReadonlySet<number> = new Set([1, 5, 10, 20, 30]);
/** Values of one metric in one answer. */
const VALUES_MAX = 300;

const times: SourceRule = {
  says: `cloudwatch.periodSeconds must be 1, 5, 10, 20, 30 or a multiple of 60, and lookbackSeconds one to ${VALUES_MAX} periods`,
  cel: `!has(self.cloudwatch) || ((!has(self.cloudwatch.periodSeconds) || self.cloudwatch.periodSeconds in [1, 5, 10, 20, 30] || self.cloudwatch.periodSeconds % 60 == 0) && (!has(self.cloudwatch.lookbackSeconds) || (self.cloudwatch.lookbackSeconds >= (has(self.cloudwatch.periodSeconds) ? self.cloudwatch.periodSeconds : 60) && self.cloudwatch.lookbackSeconds <= ${VALUES_MAX} * (has(self.cloudwatch.periodSeconds) ? self.cloudwatch.periodSeconds : 60))))`,
  problems: ofBlock(({ periodSeconds: period, lookbackSeconds: lookback }, path) => {
    if (typeof period !== "number") return [];
    if (!PERIODS.has(period) && period % 60 !== 0)
      return [wrong(`${path}.periodSeconds`, "must be 1, 5, 10, 20, 30 or a multiple of 60", "write 60, the period of most metrics of AWS")];
    if (typeof lookback !== "number" || (lookback >= period && lookback <= VALUES_MAX * period)) return [];
    return [wrong(`${path}.lookbackSeconds`, `must be one to ${VALUES_MAX} periods`, `write ${Math.max(300, 3 * period)}`)];
  }),
};

const NAMESPACE = /^[\w.\-/#:]{1,255}$/;
const STAT = /^(?:SampleCount|Average|Sum|Minimum|Maximum|IQM|(?:p|tm|tc|ts|wm)(?:100|\d{1,2}(?:\.\d{1,10})?)|(?:TM|TC|TS|WM|PR)\([\d.%:]{1,40}\))$/;
const ACCOUNT = /^\d{12}$/;
const PRINTABLE = /^[ -~]+$/;
const DIMENSIONS_MAX = 30;
const LENGTH_MAX = { metric: 255, name: 255, value: 1_024 } as const;

/** What is sent to CloudWatch must be of the form that it takes: it refuses a whole call for one metric. */
const statProblems = ({ namespace, metric, dimensions, stat, accountId }: Block, path: string): readonly Problem[] => {
  const entries = Object.entries(isObject(dimensions) ? dimensions : {});
  const faults: readonly (readonly [boolean, Problem])[] = [
    [
      isGiven(namespace) && !NAMESPACE.test(String(namespace)),
      wrong(`${path}.namespace`, "must be a namespace of CloudWatch: letters, digits and ._-/#:", "write one such as AWS/SQS"),
    ],
    [
      isGiven(metric) && !(PRINTABLE.test(String(metric)) && String(metric).length <= LENGTH_MAX.metric),
      wrong(`${path}.metric`, `must be printable ASCII, at most ${LENGTH_MAX.metric} characters`, "write the name as the console shows it"),
    ],
    [
      isGiven(stat) && !STAT.test(String(stat)),
      wrong(`${path}.stat`, "must be a statistic of CloudWatch", "write Average, Sum, Minimum, Maximum, SampleCount, or one such as p99"),
    ],
    [
      isGiven(accountId) && !ACCOUNT.test(String(accountId)),
      wrong(`${path}.accountId`, "must be the twelve digits of an account", "write it in quotes"),
    ],
    [entries.length > DIMENSIONS_MAX, wrong(`${path}.dimensions`, `must be at most ${DIMENSIONS_MAX}`, "a metric has no more")],
    ...entries.map(([name, value]): readonly [boolean, Problem] => [
      !(
        PRINTABLE.test(name) &&
        name.length <= LENGTH_MAX.name &&
        !name.startsWith(":") &&
        PRINTABLE.test(String(value)) &&
        String(value).length <= LENGTH_MAX.value
      ),
      wrong(`${path}.dimensions`, "must have names and values of printable ASCII", "write them as the console shows them"),
    ]),
  ];
  return faults.flatMap(([isFault, problem]) => (isFault ? [problem] : []));
};

const rightStats: SourceRule = {
  problems: ofBlock((block, path) => [
    ...statProblems(block, path),
    ...inputsOf(block).flatMap((input, at) => [
      ...statProblems(input, `${path}.inputs[${at}]`),
      ...(["namespace", "metric"] as const)
        .filter((name) => !isGiven(input[name]))
        .map((name) => required(`${path}.inputs[${at}].${name}`, "", "write the metric of this input")),
    ]),
  ]),
};

const inputsOf = ({ inputs }: Block): readonly Block[] => (Array.isArray(inputs) ? inputs.filter(isObject) : []);

const EXPRESSION_CHARACTERS_MAX = 1_024;
const ID = /^[a-z]\w{0,63}$/;

const rightExpression: SourceRule = {
  problems: ofBlock((block, path) => {
    const { expression } = block;
    if (typeof expression !== "string" || expression === "") return [];
    const ids = inputsOf(block).map(({ id }) => String(id));
    const badIds = ids.flatMap((id, at) =>
      ID.test(id) && ids.indexOf(id) === at
        ? []
        : [wrong(`${path}.inputs[${at}].id`, "must be unique: a small letter, then letters, digits and _", "write one such as errors")],
    );
    if (expression.length > EXPRESSION_CHARACTERS_MAX)
      return [
        wrong(
          `${path}.expression`,
          `must have at most ${EXPRESSION_CHARACTERS_MAX} characters`,
          "write a shorter one, or a formula over several metrics",
        ),
      ];
    const fault = mathFault(expression, ids);
    return fault === undefined ? badIds : [...badIds, wrong(`${path}.expression`, fault, "name the metrics as inputs, or write a formula")];
  }),
};

export const CLOUDWATCH_RULES: readonly SourceRule[] = [metricOrExpression, times, rightStats, rightExpression];
