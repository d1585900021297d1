import * as z from "zod";

/** A metric as CloudWatch files it: namespace, name and the values of its dimensions. */
export interface MetricKey {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: unknown;
}
export const keyOf = ({ namespace, name, dimensions }: MetricKey): string =>
  `${namespace} ${name} ${JSON.stringify(dimensions)}`;

const embedded = z.looseObject({
  _aws: z.object({
    CloudWatchMetrics: z.array(
      z.object({
        Namespace: z.string(),
        Dimensions: z.array(z.array(z.string())),
        Metrics: z.array(z.object({ Name: z.string() })),
      }),
    ),
  }),
});

export interface Sample {
  readonly key: string;
  readonly value: number;
}

const numbersOf = (value: unknown): readonly number[] =>
  (Array.isArray(value) ? value : [value]).map(Number);

/**
 * The samples that CloudWatch would make of the lines of a function's log (the embedded metric
 * format). Lines of another kind have none.
 */
export const samplesIn = (log: string): readonly Sample[] =>
  log.split("\n").flatMap((line) => {
    if (!line.includes('"_aws"')) return [];
    const values = embedded.parse(JSON.parse(line));
    return values._aws.CloudWatchMetrics.flatMap(({ Namespace: namespace, Dimensions, Metrics }) =>
      Dimensions.flatMap((names) => {
        const dimensions = Object.fromEntries(names.map((name) => [name, values[name]]));
        return Metrics.flatMap(({ Name: name }) =>
          numbersOf(values[name]).map((value) => ({
            key: keyOf({ namespace, name, dimensions }),
            value,
          })),
        );
      }),
    );
  });
