import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { FleetProblem } from "../stack/report/problems.ts";
import type { countProblems } from "../stack/plan/count-problems.ts";

type Ports = Parameters<typeof countProblems>[0];
type Told = Pick<Ports, "owners" | "people">;

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
 * Who gets a message of what is new: the topic of the alarms, and the topics of owners. The code
 * that sends is loaded where there is something to send.
 */
export const ownersIn = (names: {
  readonly TIDEMARK_ALARM_OWNERS: string;
  readonly TIDEMARK_OWNER_TOPICS: string;
  readonly TIDEMARK_ALARM_TOPIC: string;
}): Told => {
  const topics = topicsOf(names.TIDEMARK_ALARM_OWNERS, names.TIDEMARK_OWNER_TOPICS);
  const alarmTopic = names.TIDEMARK_ALARM_TOPIC;
  if (topics.size === 0 && alarmTopic === "none") return {};
  const { credentials, region } = new DynamoDBClient().config;
  const signer = { credentials, region, clock: Date.now };
  const stack = process.env["POWERTOOLS_SERVICE_NAME"] ?? "tidemark";
  const tell = async (owner: string, news: readonly FleetProblem[]): Promise<void> =>
    (await import("./owner-topics.ts")).tellOwner(
      signer,
      stack,
      owner,
      topics.get(owner) ?? "",
      news,
    );
  const people = async (news: readonly FleetProblem[]): Promise<void> =>
    (await import("./owner-topics.ts")).tellPeople(signer, stack, alarmTopic, news);
  return {
    ...(topics.size > 0 && { owners: { names: [...topics.keys()], tell } }),
    ...(alarmTopic !== "none" && { people }),
  };
};
