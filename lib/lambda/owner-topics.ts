import { exchange } from "../stack/cluster/transport/exchange.ts";
import { TidemarkError } from "../rules/model/errors.ts";
import { foreignText } from "../rules/model/foreign-text.ts";
import { type FleetProblem, problemSentences } from "../stack/report/problems.ts";
import { type Signer, signed } from "./signed-request.ts";

/** The right that this call needs. A test compares the roles of the stack with it. */
export const PUBLISH_RIGHT = "sns:Publish";

const PUBLISH = { timeoutMs: 3_000, maxBytes: 64 * 1024 };
/** A message that arrives twice does no harm. */
const ATTEMPTS = 3;
/** SNS takes subjects of at most 100 printable ASCII characters. */
const SUBJECT_CHARACTERS = 100;

/**
 * Sends one message to the topic of an owner. Throws `schedule.owner` where SNS does not take it.
 */
export const tellOwner = async (
  signer: Signer,
  stack: string,
  owner: string,
  topic: string,
  news: readonly FleetProblem[],
): Promise<void> => {
  const count = news.reduce((sum, problem) => sum + problem.count, 0);
  const subject =
    `${stack}: ${count} ${count === 1 ? "autoscaler needs" : "autoscalers need"} a look`.slice(
      0,
      SUBJECT_CHARACTERS,
    );
  // Which autoscaler has it the longest may be one of another owner.
  const sentences = problemSentences(news.map(({ first: _first, ...problem }) => problem));
  const message = [
    `Of ${owner}:`,
    ...sentences,
    "",
    `tidemark status --stack ${stack} names them, and tidemark explain NAME says why.`,
  ].join("\n");
  await publish(signer, topic, { to: `the owner "${owner}"`, subject, message });
};

/**
 * Sends what is new to the topic of the alarms: which clusters and autoscalers, since when, and the
 * command that looks at each. The mail of an alarm of CloudWatch names none of them. Throws
 * `schedule.owner` where SNS does not take it.
 */
export const tellPeople = async (
  signer: Signer,
  stack: string,
  topic: string,
  news: readonly FleetProblem[],
): Promise<void> => {
  const places = [...new Set(news.map(({ key }) => key))];
  const subject = `${stack}: ${places.join(", ")}`;
  const message = [
    ...problemSentences(news),
    "",
    ...new Set(news.map((problem) => `${commandOf(problem)} --stack ${stack}`)),
    `tidemark status --stack ${stack} names what goes on.`,
  ].join("\n");
  await publish(signer, topic, { to: "the topic of the alarms", subject: cut(subject), message });
};

const cut = (subject: string): string =>
  subject.length <= SUBJECT_CHARACTERS ? subject : `${subject.slice(0, SUBJECT_CHARACTERS - 3)}...`;

/** What looks at a problem. */
const commandOf = ({ kind, key, first = "" }: FleetProblem): string => {
  const [cluster = ""] = key.split("/");
  const [namespace = "", name] = first.split("/");
  if (kind === "late" || kind === "unreadable") return `tidemark cluster describe ${cluster}`;
  if (first === "") return `tidemark cluster check ${cluster}`;
  return name === undefined
    ? `tidemark get -n ${namespace} --cluster ${cluster}`
    : `tidemark doctor ${name} -n ${namespace} --cluster ${cluster}`;
};

interface Publication {
  /** Who gets it, for an error. */
  readonly to: string;
  readonly subject: string;
  readonly message: string;
}

const publish = async (
  signer: Signer,
  topic: string,
  { to, subject, message }: Publication,
): Promise<void> => {
  const body = new URLSearchParams({
    Action: "Publish",
    Version: "2010-03-31",
    TopicArn: topic,
    Subject: subject,
    Message: message,
  }).toString();
  // A topic may be in another region.
  const [, , , region = ""] = topic.split(":");
  const request = {
    service: "sns",
    path: "/",
    contentType: "application/x-www-form-urlencoded; charset=utf-8",
    body,
  } as const;
  let why = "";
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const answer = await exchange({
      ...(await signed({ ...signer, region: async () => region }, request)),
      ...PUBLISH,
    });
    if (answer.kind === "answered" && answer.status === 200) return;
    why =
      answer.kind === "broken"
        ? answer.error.message
        : `SNS answered ${answer.status}: ${answer.bytes
            .toString("utf8")
            .replaceAll(/(?:<[^>]*>|\s)+/g, " ")
            .trim()}`;
  }
  throw new TidemarkError(
    "schedule.owner",
    `Cannot send to ${to}: ${foreignText(why)} (${PUBLISH_RIGHT} on ${topic} is needed)`,
    { topic },
  );
};
