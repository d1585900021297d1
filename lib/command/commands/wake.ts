import { lines, text } from "../../stack/report/printed.ts";
import type { NewWake, SentWake } from "../../answers/service/requests.ts";
import type { UnreadableWake, WakeView, WokenView } from "../../answers/views/wake.ts";
import type { Printer, Session } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { Table } from "../output/text-table.ts";

export const put = async (
  { service }: Session,
  printer: Printer,
  wanted: NewWake,
): Promise<void> => {
  const { name, changed } = await service.putWake(wanted);
  await printer.print(
    changed ? text`Wake ${name} registered\n` : text`Wake ${name} is registered so already\n`,
  );
};

export const remove = async (
  { service }: Session,
  printer: Printer,
  name: string,
): Promise<void> => {
  await service.deleteWake(name);
  await printer.print(text`Wake ${name} deleted: its alarm wakes nothing from now on\n`);
};

const ALL = "<all>";

const row = (wake: WakeView | UnreadableWake) => {
  if ("problem" in wake) return [wake.name, "", "", "", wake.problem];
  const { name, cluster, namespace = ALL, names = [ALL], alarm } = wake;
  return [name, cluster, namespace, names.join(","), alarm];
};

export const list = async (
  { service }: Session,
  printer: Printer,
  output: "table" | DocumentFormat,
): Promise<void> => {
  const wakes = await service.wakes();
  if (output !== "table") await printer.print(documentText(wakes, output));
  else if (wakes.length === 0) await printer.print(text`No wakes\n`);
  else
    await printer.print(
      lines(
        new Table(["NAME", "CLUSTER", "NAMESPACE", "AUTOSCALERS", "ALARM"]).lines(wakes.map(row)),
      ),
    );
};

const WORDS: Readonly<Record<WokenView["woken"][number]["sync"], string>> = {
  sent: "an extra sync is due at",
  joined: "joins the extra sync of",
  planned: "the planned sync does it, at",
};

export const send = async (
  { service }: Session,
  printer: Printer,
  wake: SentWake,
  output: "text" | DocumentFormat,
): Promise<void> => {
  const answer = await service.wake([wake]);
  if (output !== "text") await printer.print(documentText(answer, output));
  else
    await printer.print(
      lines(
        answer.woken.map(
          ({ cluster, partition, sync, dueAt }) =>
            text`Woke ${cluster}/${partition}: ${WORDS[sync]} ${dueAt}`,
        ),
      ),
    );
};
