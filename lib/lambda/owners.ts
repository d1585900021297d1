import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { FleetProblem } from "../stack/report/problems.ts";
import type { countProblems } from "../stack/plan/count-problems.ts";

type Owners = NonNullable<Parameters<typeof countProblems>[0]["owners"]>;

/**
 * The topic of each owner, by the two lists of the environment. Throws a RangeError where one is
 * longer than the other: an owner would get the problems of another one.
 */
export const topicsOf = (owners: string, topics: string): ReadonlyMap<string, string> => {
  if (owners === "none") return new Map();
  const [names, arns] = [owners.split(","), topics.split(",")];
  if (names.length !== arns.length)
    throw new RangeError(
      `Cannot start: there are ${names.length} owners and ${arns.length} topics; each owner has one topic, in the same order`,
    );
  return new Map(names.map((name, at) => [name.trim(), (arns[at] ?? "").trim()]));
};

/**
 * Most stacks have no such owners, so the code that sends to them is loaded where there are some.
 */
export const ownersIn = (names: {
  readonly TIDEMARK_ALARM_OWNERS: string;
  readonly TIDEMARK_OWNER_TOPICS: string;
}): { readonly owners?: Owners } => {
  const topics = topicsOf(names.TIDEMARK_ALARM_OWNERS, names.TIDEMARK_OWNER_TOPICS);
  if (topics.size === 0) return {};
  const { credentials, region } = new DynamoDBClient().config;
  const stack = process.env["POWERTOOLS_SERVICE_NAME"] ?? "tidemark";
  const tell = async (owner: string, news: readonly FleetProblem[]): Promise<void> =>
    (await import("./owner-topics.ts")).tellOwner(
      { credentials, region, clock: Date.now },
      stack,
      owner,
      topics.get(owner) ?? "",
      news,
    );
  return { owners: { names: [...topics.keys()], tell } };
};
