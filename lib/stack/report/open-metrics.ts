import { printable } from "../../rules/model/foreign-text.ts";

/** All samples of one metric name, as OpenMetrics 1.0 groups them. */
export interface MetricFamily {
  /** The name of a counter comes without `_total`; its samples carry it. */
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  readonly samples: readonly MetricSample[];
}

export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export const OPEN_METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * Families as OpenMetrics text, without empty families. Samples carry no time, so they count as of
 * the scrape. Throws RangeError for what the format cannot express.
 */
export const openMetricsText = (families: readonly MetricFamily[]): string => {
  const written = families.filter(({ samples }) => samples.length > 0);
  if (new Set(written.map(({ name }) => name)).size < written.length)
    throw new RangeError("Cannot write a family twice: put all its samples into one family");
  return `${written.map(familyText).join("")}# EOF\n`;
};

const familyText = ({ name, type, help, samples }: MetricFamily): string => {
  if (!METRIC_NAME.test(name))
    throw new RangeError(
      `Cannot write the family "${name}": its name must match ${METRIC_NAME.source}`,
    );
  if (type === "counter" && name.endsWith("_total"))
    throw new RangeError(
      `Cannot write the counter "${name}": its samples carry "_total", its family does not`,
    );
  const lines = samples.map((sample) => sampleText(name, type, sample));
  const series = lines.map((line) => line.slice(0, line.lastIndexOf(" ")));
  if (new Set(series).size < series.length)
    throw new RangeError(
      `Cannot write the family "${name}": two of its samples have the same labels`,
    );
  return [`# TYPE ${name} ${type}`, `# HELP ${name} ${escaped(help)}`, ...lines, ""].join("\n");
};

const sampleText = (
  name: string,
  type: MetricFamily["type"],
  { labels, value }: MetricSample,
): string => {
  // This refuses NaN too.
  if (type === "counter" && !(value >= 0))
    throw new RangeError(
      `Cannot write the counter "${name}": its value is ${value}, must not be negative`,
    );
  const pairs = Object.entries(labels).map(([label, text]) => labelText(name, label, text));
  return `${name}${type === "counter" ? "_total" : ""}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${numberText(value)}`;
};

const labelText = (name: string, label: string, text: string): string => {
  if (!LABEL_NAME.test(label))
    throw new RangeError(
      `Cannot write the family "${name}": its label "${label}" must match ${LABEL_NAME.source}`,
    );
  return `${label}="${escaped(text)}"`;
};

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", '"': '\\"' };

/**
 * OpenMetrics escapes help and label values alike; the older text format leaves quotes in help
 * unescaped. Neither has an escape for other control characters, so that they come as words:
 * `\u{1b}`.
 */
const escaped = (text: string): string => (PLAIN.test(text) ? text : escapedWords(text));
/** Most names: a scrape of 10,000 autoscalers has 150,000 of them. */
const PLAIN = /^[\w./:-]*$/;
const escapedWords = (text: string): string =>
  text
    .replace(/[^\n]+/g, printable)
    .replace(/[\\\n"]/g, (character) => ESCAPES[character] ?? character);

const numberText = (value: number): string => {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
};
