import { withLocalTimes } from "../../stack/report/instant-text.ts";
import { lines, text } from "../../stack/report/printed.ts";
import type { Description } from "../../answers/views/autoscaler.ts";
import { type Choice, chosenForQuery } from "../select/chosen-autoscalers.ts";
import type { Session, CommandSurroundings } from "../io.ts";
import { nothingListed, forEachResource } from "../select/listed-autoscalers.ts";
import { documentText, kubernetesList, kubernetesObject } from "../output/documents.ts";
import { describeSheet } from "../output/describe-sheet.ts";
import { mustHaveKind } from "../select/selected-names.ts";
import type { SheetOptions } from "../options/command-options.ts";
import { recentLines } from "./timeline.ts";

/**
 * Prints a sheet for each autoscaler, with an empty line between two; or one document, a `List`
 * unless there is one name. The sheet of a single one ends with its last 30 minutes.
 */
export const describe = async (
  session: Session,
  { printer, io }: CommandSurroundings<"columns">,
  choice: Choice,
  { output }: SheetOptions,
): Promise<void> => {
  const { service, nowMs } = session;
  const chosen = await chosenForQuery(service, choice);
  if (chosen.length === 0 && output === "text") printer.report(nothingListed(choice.options));
  const views: Description[] = [];
  await forEachResource(chosen, async ({ kind, version: _version, ...query }) => {
    const view = mustHaveKind(await service.describe(query), kind);
    if (output === "text")
      await printer.print(
        text`${views.length > 0 ? text`\n` : ""}${describeSheet(withLocalTimes(view), nowMs, printer.paint)}`,
      );
    views.push(view);
    if (output !== "text" || chosen.length > 1) return;
    const recent = await recentLines(session, query, {
      columns: io.columns,
      colours: printer.colours,
    });
    if (recent.length > 0) await printer.print(lines(recent));
  });
  if (output === "text") return;
  const [first] = views;
  const isOneName = choice.resources.length === 1 && chosen.length === 1;
  await printer.print(
    documentText(first && isOneName ? kubernetesObject(first) : kubernetesList(views), output),
  );
};
