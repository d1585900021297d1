import {
  answerByService,
  FOLDER_REFRESH_SECONDS,
  type ServedService,
} from "../../dashboard/serve/answer-by-service.ts";
import { dashboardServer } from "../../dashboard/serve/server.ts";
import type { LogLine } from "../../stack/report/log-lines.ts";
import { closeServer, listenWithOwnGuards } from "../host/loopback.ts";
import { userName } from "../host/terminal.ts";
import { dataOption, type FolderLayout } from "../layout.ts";
import type { RunOptions } from "./options.ts";

/** The page of a run, at its address from the first moment on. */
export interface RunPage {
  readonly url: string;
  /** Shows the run, once its service is there. What fails is logged. */
  readonly serve: (served: ServedService, log: (line: LogLine) => void) => void;
  readonly close: () => Promise<void>;
}

/** Listens on 127.0.0.1 for the page of this run. Throws `local.port-in-use`. */
export const startRunPage = async (
  { dir, named }: FolderLayout,
  { dashboardPort, allowEdits }: Pick<RunOptions, "dashboardPort" | "allowEdits">,
): Promise<RunPage> => {
  let served: ServedService | undefined;
  let log = (_line: LogLine): void => {};
  const ready = (): ServedService => {
    if (served) return served;
    throw new RangeError("The page was asked before its run was there");
  };
  const { server, urlAt, idle } = dashboardServer(
    {
      answerApi: async (...request) => answerByService(ready())(...request),
      caller: async () => userName(),
      clock: () => ready().clock(),
      isReady: () => served !== undefined,
      place: `folder ${dir}`,
      target: dataOption(named).trim(),
      refreshSeconds: FOLDER_REFRESH_SECONDS,
    },
    { allowEdits: allowEdits === true, onFailure: (error) => log(failureLine(error)) },
  );
  const url = urlAt(await listenWithOwnGuards(server, dashboardPort));
  return {
    url,
    serve: (now, write) => {
      served = now;
      log = write;
    },
    close: () => closeServer(server, idle),
  };
};

/** A request that failed here, for the log of the run. */
export const failureLine = (error: unknown): LogLine => ({
  level: "error",
  message: "Answered a request of the page with a failure",
  fields: { error: error instanceof Error ? error : new Error(String(error)) },
});
