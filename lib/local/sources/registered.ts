import { SOURCE_LIMITS } from "../../model/metric-source.ts";
import type { ServiceContext } from "../../service/context.ts";
import { openService } from "../../service/open.ts";
import type { NewSource } from "../../service/requests.ts";
import { LOCAL_ACCOUNT } from "../queue/message.ts";

/** What edits of a start are signed with, so that the next start knows them from the edits of people. */
const BY = "npm start";

/** The name of the Prometheus, also of one that `--source-url` names. */
const PROMETHEUS = "main";

const EVERYBODY = { clusters: ["*"], namespaces: ["*"] };
const service = (name: string, port: string) => ({ namespace: "monitoring", name, port, scheme: "http", path: "" }) as const;

/** The sources of a simulated run. Two are services of its cluster, which its API server passes questions on to; the queues are an account of AWS on this machine. */
const RECORDED: readonly NewSource[] = [
  { name: PROMETHEUS, kind: "prometheus", service: service("prometheus", "9090"), ...EVERYBODY },
  { name: "jobs", kind: "http", service: service("jobs", "8080"), ...EVERYBODY },
  {
    name: "queues",
    kind: "sqs",
    aws: {
      region: "eu-central-1",
      roleArn: `arn:aws:iam::${LOCAL_ACCOUNT}:role/tidemark-local-source-queues`,
      externalId: "npm-start",
      queues: ["*"],
    },
    ...EVERYBODY,
  },
];

/** A Prometheus of the person who starts the run. */
const own = (url: string): NewSource => ({
  name: PROMETHEUS,
  kind: "prometheus",
  url,
  private: true,
  timeoutSeconds: SOURCE_LIMITS.timeoutSeconds.default,
  ...EVERYBODY,
});

/** Registers the sources of a start. One that a person has registered or changed stays as it is, but for the one that `--source-url` names. Throws `service.invalid` for a URL that cannot be asked. */
export const registerSources = async (
  context: ServiceContext,
  { simulated, sourceUrl }: { readonly simulated: boolean; readonly sourceUrl: string | undefined },
): Promise<void> => {
  const editing = openService({ ...context, by: BY, ownAddresses: true });
  const kept = new Set((await editing.sources()).flatMap((source) => ("updatedBy" in source && source.updatedBy === BY ? [] : [source.name])));
  for (const source of simulated ? RECORDED : []) {
    if (!kept.has(source.name) && !(source.name === PROMETHEUS && sourceUrl !== undefined)) await editing.putSource(source);
  }
  if (sourceUrl !== undefined) await editing.putSource(own(sourceUrl));
};
