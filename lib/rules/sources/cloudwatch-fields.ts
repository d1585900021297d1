import {
  amount,
  group,
  integer,
  listField,
  type ReadOf,
  texts,
  words,
} from "../fields/field-types.ts";
import { invalidField, type Problem } from "../fields/problem.ts";
import {
  all,
  any,
  atLeast,
  atMost,
  is,
  larger,
  multipleOf,
  type Rule,
  isSet,
  times,
  unset,
} from "../fields/rule.ts";

const SHOWN = "write the name as the console shows it";
const NAMESPACE = {
  pattern: "^[A-Za-z0-9_./#:-]{1,255}$",
  detail: "must be a namespace of CloudWatch: letters, digits and ._-/#:",
  fix: "write one such as AWS/SQS",
};
const METRIC = {
  pattern: "^[ -~]{1,255}$",
  detail: "must be printable ASCII, at most 255 characters",
  fix: SHOWN,
};
const STAT = {
  pattern:
    "^(SampleCount|Average|Sum|Minimum|Maximum|IQM|(p|tm|tc|ts|wm)(100|[0-9]{1,2}([.][0-9]{1,10})?)|(TM|TC|TS|WM|PR)[(][0-9.%:]{1,40}[)])$",
  detail: "must be a statistic of CloudWatch",
  fix: "write Average, Sum, Minimum, Maximum, SampleCount, or one such as p99",
};
const ACCOUNT = {
  pattern: "^[0-9]{12}$",
  detail: "must be the twelve digits of an account",
  fix: "write it in quotes",
};
const ID = {
  pattern: "^[a-z][A-Za-z0-9_]{0,63}$",
  detail: "must be a small letter, then letters, digits and _",
  fix: "write one such as errors",
};
const EXPRESSION_CHARACTERS_MAX = 1_024;

const STAT_FIELDS = {
  namespace: words("Namespace of the metric: AWS/SQS.", { form: NAMESPACE }),
  metric: words("Name of the metric: ApproximateAgeOfOldestMessage.", { form: METRIC }),
  dimensions: texts("The value of each dimension; all dimensions of the metric are needed."),
  stat: words("The statistic: Average, Sum, Minimum, Maximum, SampleCount, or such as p99.", {
    default: "Average",
    form: STAT,
  }),
  accountId: words("The account of the metric, where the account of the role monitors it.", {
    form: ACCOUNT,
  }),
};

/** The block `cloudwatch` of a metric. */
export const CLOUDWATCH_FIELDS = {
  source: words("Name of the registered source (docs/sources.md).", {
    required: true,
    segment: true,
  }),
  ...STAT_FIELDS,
  expression: words(
    "Metric math over the ids of inputs: errors / requests. In place of a metric.",
    {
      mostCharacters: EXPRESSION_CHARACTERS_MAX,
      lines: true,
    },
  ),
  inputs: listField(
    "The metrics of the expression.",
    group("One metric of the expression.", {
      id: words("Its name in the expression: a small letter, then letters, digits and _.", {
        required: true,
        form: ID,
      }),
      ...STAT_FIELDS,
      namespace: words("Namespace of the metric: AWS/SQS.", { required: true, form: NAMESPACE }),
      metric: words("Name of the metric: ApproximateAgeOfOldestMessage.", {
        required: true,
        form: METRIC,
      }),
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
  lookbackSeconds: integer(
    "The newest value of this time counts; by default 300 or three periods, whichever is more.",
    { least: 1, most: 10_800 },
  ),
  offsetSeconds: integer(
    "How long before now the time ends, where newer values are not complete yet.",
    { least: 0, most: 3_600, default: 0 },
  ),
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

const BLOCK = "cloudwatch";
const of = (name: string): string => `${BLOCK}.${name}`;
const WITHOUT_EXPRESSION = all(isSet(BLOCK), unset(of("expression")));
/** Values of one metric in one answer. */
const VALUES_MAX = 300;
const PERIOD = of("periodSeconds");
const LOOKBACK = of("lookbackSeconds");

export const CLOUDWATCH_RULES: readonly Rule[] = [
  {
    when: isSet(of("expression")),
    needs: unset(of("namespace"), of("metric"), of("dimensions"), of("accountId")),
    detail: "may not be set together with expression",
    fix: "write it for an input of the expression",
  },
  ...["namespace", "metric"].map(
    (name): Rule => ({
      when: WITHOUT_EXPRESSION,
      needs: isSet(of(name)),
      says: `${of(name)} must be set without an expression: write namespace and metric, or an expression with inputs`,
      detail: "",
      fix: "write namespace and metric, or an expression with inputs",
    }),
  ),
  {
    when: WITHOUT_EXPRESSION,
    needs: unset(of("inputs")),
    says: "cloudwatch.inputs may only be set with expression: write the expression, or one metric without inputs",
    detail: "may only be set with expression",
    fix: "write the expression, or one metric without inputs",
  },
  {
    needs: any(is(PERIOD, 1, 5, 10, 20, 30), multipleOf(PERIOD, 60)),
    at: PERIOD,
    detail: "must be 1, 5, 10, 20, 30 or a multiple of 60",
    fix: "write 60, the period of most metrics of AWS",
  },
  {
    needs: all(atLeast(LOOKBACK, PERIOD), atMost(LOOKBACK, times(VALUES_MAX, PERIOD))),
    terms: { right: larger(300, times(3, PERIOD)) },
    detail: `must be one to ${VALUES_MAX} periods`,
    fix: "write {right}",
  },
];

const PRINTABLE = /^[ -~]+$/;
const DIMENSIONS_MAX = 30;
const LENGTH_MAX = { name: 255, value: 1_024 } as const;

const isDimension = ([name, value]: readonly [string, string]): boolean =>
  PRINTABLE.test(name) &&
  name.length <= LENGTH_MAX.name &&
  !name.startsWith(":") &&
  PRINTABLE.test(value) &&
  value.length <= LENGTH_MAX.value;

const dimensionProblems = ({ dimensions = {} }: StatRead, path: string): readonly Problem[] => {
  const entries = Object.entries(dimensions);
  if (entries.length > DIMENSIONS_MAX)
    return [
      invalidField(
        `${path}.dimensions`,
        `must be at most ${DIMENSIONS_MAX}`,
        "a metric has no more",
      ),
    ];
  return entries.every(isDimension)
    ? []
    : [
        invalidField(
          `${path}.dimensions`,
          "must have names and values of printable ASCII",
          "write them as the console shows them",
        ),
      ];
};

/**
 * What no condition says: names and values of dimensions, and the words of an expression.
 * CloudWatch refuses a whole call for one metric.
 */
export const cloudwatchProblems = (
  block: ReadOf<typeof CLOUDWATCH_FIELDS>,
  path: string,
): readonly Problem[] => {
  const { expression = "", inputs = [] } = block;
  const isRead = expression !== "" && expression.length <= EXPRESSION_CHARACTERS_MAX;
  const fault = isRead
    ? mathFault(
        expression,
        inputs.map(({ id = "" }) => id),
      )
    : undefined;
  return [
    ...dimensionProblems(block, path),
    ...inputs.flatMap((input, at) => dimensionProblems(input, `${path}.inputs[${at}]`)),
    ...(fault === undefined
      ? []
      : [
          invalidField(
            `${path}.expression`,
            fault,
            "name the metrics as inputs, or write a formula",
          ),
        ]),
  ];
};

/**
 * Functions of metric math that calculate with their arguments only. Others can call a Lambda
 * function, read other metrics or find series of their own.
 */
const FUNCTIONS: ReadonlySet<string> = new Set(
  `ABS AVG CEIL DATAPOINT_COUNT DATE DAY DIFF DIFF_TIME EPOCH FILL FIRST FLOOR HOUR IF LAST LOG LOG10 MAX METRIC_COUNT MIN MINUTE MONTH PERIOD RATE
   RUNNING_SUM SLICE SORT STDDEV SUM TIME_SERIES YEAR SEARCH AND OR ASC DESC LINEAR REPEAT`.split(
    /\s+/,
  ),
);

const TOKEN =
  /\s+|'[^']*'|"[^"]*"|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|[=!<>]=|&&|\|\||[^\s\w'"]|['"]/g;
const NAME = /^[A-Za-z_]/;
const TEXT = /^['"]/;
const INSIGHTS = /^\s*SELECT\b/i;

const tokensOf = (expression: string): readonly string[] => expression.match(TOKEN) ?? [];

/**
 * True for a query of Metrics Insights, which is no metric math and reads any metric of the
 * account.
 */
export const isInsights = (expression: string): boolean => INSIGHTS.test(expression);

/**
 * True for an expression that finds its own series, so that neither their namespaces nor their
 * number are known before.
 */
export const findsSeries = (expression: string): boolean =>
  isInsights(expression) || tokensOf(expression).includes("SEARCH");

/**
 * What is wrong with an expression of metric math before CloudWatch reads it; undefined for one
 * that may be sent. A name must be the id of an input: expressions of several autoscalers are sent
 * in one request, and one must not read the metrics of another.
 */
const mathFault = (expression: string, ids: readonly string[]): string | undefined => {
  if (isInsights(expression))
    return ids.length === 0 ? undefined : "a query of Metrics Insights has no inputs";
  const tokens = tokensOf(expression);
  const searches = tokens.includes("SEARCH");
  return (
    tokens
      .map((token) => tokenFault(token, { ids, searches }))
      .find((fault) => fault !== undefined) ?? formFault(tokens)
  );
};

const OPERATORS: ReadonlySet<string> = new Set("+ * / ^ == != <= >= < > && || AND OR".split(" "));
/** Words that are arguments of functions. Every other word in capitals is a function. */
const ARGUMENTS: ReadonlySet<string> = new Set(["ASC", "DESC", "LINEAR", "REPEAT"]);

/** What a token is, in one letter: blank, operator, function, value, or itself. */
const letterOf = (token: string): string => {
  if (/^\s/.test(token)) return "";
  if (OPERATORS.has(token)) return "o";
  if (FUNCTIONS.has(token) && !ARGUMENTS.has(token)) return "f";
  return /^[\w.'"]/.test(token) ? "v" : token;
};

/** The parts of an expression that are a value: a call, brackets, a list, an operator, a minus. */
const VALUES = /f\(v(?:,v)*\)|(?<!f)\(v\)|\[v(?:,v)*\]|v[o-]-*v|(?<![v)\]])-v/g;

/**
 * What is wrong with the form of an expression: a value must stand on both sides of an operator,
 * and brackets must close. CloudWatch refuses a whole call for one such expression, which is then
 * asked again in halves. Values are put together until one is left; an expression has 1,024
 * characters at most.
 */
const formFault = (tokens: readonly string[]): string | undefined => {
  // A function without its brackets is an argument, as in SORT(a, AVG, DESC).
  let form = tokens
    .map(letterOf)
    .join("")
    .replace(/f(?=[,)])/g, "v");
  for (let before = ""; before !== form; ) {
    before = form;
    form = form.replace(VALUES, "v");
  }
  return form === "v"
    ? undefined
    : "is no metric math: a value must stand on both sides of each operator, and brackets must close";
};

const tokenFault = (
  token: string,
  { ids, searches }: { readonly ids: readonly string[]; readonly searches: boolean },
): string | undefined => {
  if (TEXT.test(token))
    return searches && token.length > 1 ? undefined : `${token} is a text, and only SEARCH has one`;
  if (!NAME.test(token) || ids.includes(token) || FUNCTIONS.has(token)) return undefined;
  return /^[a-z]/.test(token)
    ? `"${token}" is the id of no input`
    : `${token} is not among the functions that may be used here`;
};

/**
 * The expression with a prefix before the id of each input, so that it can be sent beside others.
 */
export const withPrefix = (expression: string, prefix: string, ids: readonly string[]): string =>
  isInsights(expression)
    ? expression
    : tokensOf(expression)
        .map((token) => (ids.includes(token) ? `${prefix}${token}` : token))
        .join("");
