/** Functions of metric math that calculate with their arguments only. Others can call a Lambda function, read other metrics or find series of their own. */
const FUNCTIONS: ReadonlySet<string> = new Set(
  `ABS AVG CEIL DATAPOINT_COUNT DATE DAY DIFF DIFF_TIME EPOCH FILL FIRST FLOOR HOUR IF LAST LOG LOG10 MAX METRIC_COUNT MIN MINUTE MONTH PERIOD RATE
   RUNNING_SUM SLICE SORT STDDEV SUM TIME_SERIES YEAR SEARCH AND OR ASC DESC LINEAR REPEAT`.split(/\s+/),
);

const TOKEN = /\s+|'[^']*'|"[^"]*"|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|[^\s\w'"]|['"]/g;
const NAME = /^[A-Za-z_]/;
const TEXT = /^['"]/;
const INSIGHTS = /^\s*SELECT\b/i;

const tokensOf = (expression: string): readonly string[] => expression.match(TOKEN) ?? [];

/** True for a query of Metrics Insights, which is no metric math and reads any metric of the account. */
export const isInsights = (expression: string): boolean => INSIGHTS.test(expression);

/** True for an expression that finds its own series, so that neither their namespaces nor their number are known before. */
export const findsSeries = (expression: string): boolean => isInsights(expression) || tokensOf(expression).includes("SEARCH");

/**
 * What is wrong with an expression of metric math before CloudWatch reads it; undefined for one that may be sent. A name must be the id of an input: expressions of several autoscalers are sent
 * in one request, and one must not read the metrics of another.
 */
export const mathFault = (expression: string, ids: readonly string[]): string | undefined => {
  if (isInsights(expression)) return ids.length === 0 ? undefined : "a query of Metrics Insights has no inputs";
  const tokens = tokensOf(expression);
  const searches = tokens.includes("SEARCH");
  return tokens.map((token) => tokenFault(token, { ids, searches })).find((fault) => fault !== undefined);
};

const tokenFault = (token: string, { ids, searches }: { readonly ids: readonly string[]; readonly searches: boolean }): string | undefined => {
  if (TEXT.test(token)) return searches && token.length > 1 ? undefined : `${token} is a text, and only SEARCH has one`;
  if (!NAME.test(token) || ids.includes(token) || FUNCTIONS.has(token)) return undefined;
  return /^[a-z]/.test(token) ? `"${token}" is the id of no input` : `${token} is not among the functions that may be used here`;
};

/** The expression with a prefix before the id of each input, so that it can be sent beside others. */
export const withPrefix = (expression: string, prefix: string, ids: readonly string[]): string =>
  isInsights(expression)
    ? expression
    : tokensOf(expression)
        .map((token) => (ids.includes(token) ? `${prefix}${token}` : token))
        .join("");
