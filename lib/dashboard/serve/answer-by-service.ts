import type { AccessRecord } from "../../rules/model/access.ts";
import type { InsertHistory } from "../../stack/store/history/item.ts";
import type { Tables } from "../../stack/store/table/tables.ts";
import type { Service } from "../../answers/service/service.ts";
import type { AnswerApi } from "./handler.ts";

export interface ServedService {
  readonly service: Service;
  readonly tables: Tables;
  readonly insert: InsertHistory;
  readonly clock: () => number;
  /** The user of this machine, whose name edits are recorded with. */
  readonly by: string;
}

/** A simulated run plays a sync in less than a second, and its tables are on this machine. */
export const FOLDER_REFRESH_SECONDS = 2;

/** A data folder belongs to its user, whom no grant limits: as the commands have it. */
const NO_GRANTS: AccessRecord = { required: false, grants: [], version: 0 };

/**
 * Answers the API over the tables of this machine, by the same code as the functions of a stack.
 * The code is loaded with the first request.
 */
export const answerByService =
  ({ service, tables, insert, clock, by }: ServedService): AnswerApi =>
  async (request, onFailure) => {
    const [{ answerRequest }, { IN_PROGRESS_MS }] = await Promise.all([
      import("../../answers/api/answer-request.ts"),
      import("../../answers/api/idempotency.ts"),
    ]);
    const context = {
      access: async () => NO_GRANTS,
      reading: () => service,
      editing: {
        for: () => service,
        idempotency: { tables, insert, inProgressMs: IN_PROGRESS_MS },
        connectEndpoint: { kind: "here" },
      },
      clock,
      log: ({ fields: { error, unkept } }) => {
        const failure = error ?? unkept;
        if (failure !== undefined) onFailure(failure);
      },
    } as const satisfies Parameters<typeof answerRequest>[0];
    return answerRequest(context, { ...request, by });
  };
