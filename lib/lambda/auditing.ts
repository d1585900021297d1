import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { keepDays } from "../answers/audit/daily.ts";
import { changes } from "../answers/service/changes.ts";
import type { QueryContext } from "../answers/service/context.ts";
import { events } from "../answers/service/events.ts";
import { history } from "../answers/service/history/history.ts";
import { rows } from "../answers/service/rows/rows.ts";
import { powertoolsReporter, type Reporter } from "../stack/report/reporter.ts";
import type { AuditDay } from "../stack/store/history/audit-days.ts";
import { insertByStatement } from "../stack/store/history/item.ts";
import { realTables } from "../stack/store/table/real-tables.ts";
import type { ENVIRONMENT } from "./environment.ts";
import { putsObjects } from "./put-object.ts";

export interface AuditDependencies {
  readonly keep: () => Promise<readonly AuditDay[]>;
  readonly reporter: Pick<Reporter, "line">;
}

/** What an audit reads: everything, in the name of nobody. */
export const auditReads = (context: QueryContext) => ({
  events: (query: Parameters<typeof events>[1]) => events(context, query),
  changes: (query: Parameters<typeof changes>[1]) => changes(context, query),
  rows: (query: Parameters<typeof rows>[1]) => rows(context, query),
  history: (query: Parameters<typeof history>[1]) => history(context, query),
});

/** What `audit` is built of. */
export const auditingParts = (
  names: Readonly<Record<(typeof ENVIRONMENT.audit)[number], string>>,
): AuditDependencies => {
  const tables = realTables({
    stateTable: names.TIDEMARK_STATE_TABLE,
    historyTable: names.TIDEMARK_HISTORY_TABLE,
  });
  const { credentials, region } = new DynamoDBClient().config;
  const signer = { credentials, region, clock: Date.now };
  return {
    keep: () =>
      keepDays({
        service: auditReads({ tables, clock: tables.clock }),
        tables,
        insert: insertByStatement(tables),
        put: putsObjects(signer, names.TIDEMARK_AUDIT_BUCKET),
      }),
    reporter: powertoolsReporter(),
  };
};
