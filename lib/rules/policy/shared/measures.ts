import { queryKey } from "../../model/query.ts";
import { sourceOf } from "../../sources/sources.ts";
import type { MetricLevel } from "./levels.ts";

/** A selector that stands for the pods of the workload, whichever they are. */
const ITS_PODS = "app=any";

/**
 * What a metric measures: the same for metrics that read the same, whatever they compare it with. A
 * percentage says nothing of an amount, since nobody recorded what the pods ask for.
 */
export const measureKey = (
  { source, measure }: Pick<MetricLevel, "source" | "measure">,
  inside: string,
): string => {
  const query = sourceOf(source).queryOf(source, { namespace: inside, podSelector: ITS_PODS });
  const of = "of" in source ? source.of : "request";
  const own = "name" in source ? source.name : "";
  const container = "container" in source ? source.container : "";
  return digestOf(
    JSON.stringify([
      query ? queryKey(query) : source.type,
      ...(measure === "Percent" ? ["percent", of] : []),
      ...[own, container],
    ]),
  );
};

/** Two halves of 32 bits, each mixed by a prime of its own, as cyrb53 does. */
const [FIRST, SECOND] = [2_654_435_761, 1_597_334_677] as const;

/**
 * A short name of a text, which has no more than a few characters where the text is a query of a
 * thousand. It is no protection: whoever writes two texts of one digest fools only their own
 * autoscaler.
 */
const digestOf = (text: string): string => {
  let [one, other] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, FIRST);
    other = Math.imul(other ^ unit, SECOND);
  }
  return [one, other].map((half) => (half >>> 0).toString(36)).join("");
};
