import { qualifiedNameFaults } from "../../rules/model/kubernetes-names.ts";
import { invalid } from "./refusals.ts";

type Labels = Readonly<Record<string, string>>;
/** True for labels that a selector chooses. */
export type LabelTest = (labels: Labels) => boolean;

/** Each part is looked at for every autoscaler of an answer. */
const PARTS_MAX = 50;

/** Commas outside of parentheses. */
const BETWEEN = /,(?![^(]*\))/;
const OF_A_SET = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const OF_A_VALUE = /^([^=!\s]+)\s*(==|=|!=)\s*([^=!\s]*)$/;

/**
 * Reads a selector as `kubectl -l` does: "app=web,tier!=db,env in (a, b),env notin (c),owner,!old".
 * All of its parts must hold; a label that is absent is different from every value. Throws
 * `service.invalid`.
 */
export const readSelector = (text: string): LabelTest => {
  const parts = text.split(BETWEEN);
  if (parts.length > PARTS_MAX)
    throw invalid(
      `Cannot read the selector: it has ${parts.length} parts, and the limit is ${PARTS_MAX}; leave some out, or write values of one label as env in (a,b)`,
      { parts: parts.length },
    );
  const tests = parts.map((part) => readRequirement(part.trim(), text));
  return (labels) => tests.every((test) => test(labels));
};

const readRequirement = (part: string, selector: string): LabelTest => {
  const set = OF_A_SET.exec(part);
  if (set) {
    const [, key = "", operator, list = ""] = set;
    const values = list.split(",").map((value) => value.trim());
    return memberTest(checkedKey(key, selector), values, operator === "in");
  }
  const value = OF_A_VALUE.exec(part);
  if (value)
    return memberTest(checkedKey(value[1] ?? "", selector), [value[3] ?? ""], value[2] !== "!=");
  const absent = part.startsWith("!");
  const key = checkedKey(absent ? part.slice(1).trim() : part, selector);
  return (labels) => Object.hasOwn(labels, key) !== absent;
};

const memberTest = (key: string, values: readonly string[], wanted: boolean): LabelTest => {
  const wantedValues = new Set(values);
  return (labels) => {
    const label = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return (label !== undefined && wantedValues.has(label)) === wanted;
  };
};

const checkedKey = (key: string, selector: string): string => {
  if (qualifiedNameFaults(key).length === 0) return key;
  throw invalid(
    `Cannot read the selector "${selector}": "${key}" is no name of a label; write for example app=web,tier!=db`,
    { selector },
  );
};
