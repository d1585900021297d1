const LABEL_SELECTOR = String.raw`&LabelSelector\{MatchLabels:map\[string\]string\{([^}]*)\},MatchExpressions:\[\]LabelSelectorRequirement\{(.*?)\},\}`;
/** The selector of a metric as the HPA controller prints it, in brackets or as the last part of a path. */
const STRUCT = new RegExp(String.raw`\(${LABEL_SELECTOR}\)|/${LABEL_SELECTOR}`, "g");
const NO_SELECTOR = /\(nil\)|(?<=metric [^\s:]+)\/nil(?=:|$)/g;
/** The labels of a metric as the Watermark Pod Autoscaler prints them: `{map[queue:orders]}`. */
const MAP = /\{map\[([^\]]*)\]\}/g;
const EXPRESSION = /LabelSelectorRequirement\{Key:([^,]*),Operator:([^,]*),Values:\[([^\]]*)\],\}/g;

const braced = (requirements: readonly string[]): string => (requirements.length === 0 ? "" : `{${requirements.join(",")}}`);

const labelsOf = (text: string, between: string, separator: string): readonly string[] =>
  text
    .split(separator)
    .filter((label) => label !== "")
    .map((label) => label.replace(between, "="));

const requirementOf = (key: string, operator: string, values: string): string => {
  const list = `(${values.replaceAll(" ", ",")})`;
  switch (operator) {
    case "In":
      return `${key} in ${list}`;
    case "NotIn":
      return `${key} notin ${list}`;
    case "DoesNotExist":
      return `!${key}`;
    default:
      return key;
  }
};

/** Selectors as people write them: `sqs_messages_visible{queue=orders}`, in a text that has them in the syntax of Go, as the messages of both controllers do. */
export const withReadableSelectors = (text: string): string => {
  if (!text.includes("&LabelSelector{") && !text.includes("map[") && !text.includes("nil")) return text;
  return text
    .replace(STRUCT, (_whole, ...[inLabels, inExpressions, pathLabels, pathExpressions]: readonly (string | undefined)[]) => {
      const expressions = [...(inExpressions ?? pathExpressions ?? "").matchAll(EXPRESSION)];
      return braced([
        ...labelsOf(inLabels ?? pathLabels ?? "", ": ", ","),
        ...expressions.map(([, key = "", operator = "", values = ""]) => requirementOf(key, operator, values)),
      ]);
    })
    .replace(NO_SELECTOR, "")
    .replace(MAP, (_whole, labels: string) => braced(labelsOf(labels, ":", " ")));
};

const KIND = /^(?:external|pods) metric /;
const RESOURCE = / resource(?: utilization \(percentage of request\))?(?= |$)/;

/** The name of a metric in a sentence: "cpu", "sqs_messages_visible{queue=orders}". */
export const shortMetricName = (name: string): string => withReadableSelectors(name).replace(KIND, "").replace(RESOURCE, "");
