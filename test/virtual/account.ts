import { Agent } from "node:http";
import type { Duplex } from "node:stream";
import type { OwnAccount } from "../../lib/stack/source-client/aws.ts";
import { type Answer, json } from "../cluster/stand-in/server.ts";

/** An account of AWS whose services are behind the connections of `throughAgents`. */
export const ACCOUNT: OwnAccount = {
  accountId: "123456789012",
  url: "http://aws.virtual",
  credentials: { accessKeyId: "AKIAVIRTUAL", secretAccessKey: "secret-of-virtual-time" },
};

/**
 * Gives all agents of this process these connections in place of sockets, as virtual time gives it
 * other timers. What it returns gives the sockets back.
 */
export const throughAgents = (connection: () => Duplex): (() => void) => {
  const { createConnection } = Agent.prototype;
  Object.assign(Agent.prototype, { createConnection: connection });
  return () => void Object.assign(Agent.prototype, { createConnection });
};

interface DataQuery {
  readonly Id: string;
  readonly MetricStat: {
    readonly Metric: { readonly MetricName: string };
    readonly Period: number;
  };
}

/** CloudWatch, where each metric has one value that is complete at a time. */
export const cloudwatchAt =
  (completeSeconds: number, asked: (metric: string) => void): Answer =>
  (seen, response, socket) => {
    const { MetricDataQueries: queries } = JSON.parse(seen.body) as {
      readonly MetricDataQueries: readonly DataQuery[];
    };
    for (const { MetricStat } of queries) asked(MetricStat.Metric.MetricName);
    const MetricDataResults = queries.map(({ Id, MetricStat }) => ({
      ...{ Id, Label: Id, StatusCode: "Complete" },
      Timestamps: [completeSeconds - MetricStat.Period],
      Values: [40],
    }));
    json(200, { MetricDataResults })(seen, response, socket);
  };
