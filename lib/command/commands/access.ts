import { TidemarkError } from "../../rules/model/errors.ts";
import { lines, text } from "../../stack/report/printed.ts";
import type { CanIQuery, NewGrant } from "../../answers/service/service.ts";
import type { AccessView, GrantView } from "../../answers/views/change.ts";
import type { Printer, Session } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { Table } from "../output/text-table.ts";

const OPEN_NOTE =
  "grants are not required: a caller whom no grant names may do what its URL allows; tidemark access require on changes that";

const noteOpen = ({ required }: AccessView, printer: Printer): void => {
  if (!required) printer.note(OPEN_NOTE);
};

export const grant = async (
  { service }: Session,
  printer: Printer,
  arn: string,
  { role, cluster, namespace }: Omit<NewGrant, "arn">,
): Promise<void> => {
  const edited = await service.grantAccess({
    arn,
    role,
    cluster,
    ...(namespace !== undefined && { namespace }),
  });
  await printer.print(
    edited.changed
      ? text`Granted ${edited.id ?? ""}\n`
      : text`Grant ${edited.id ?? ""} says so already\n`,
  );
  noteOpen(edited, printer);
};

export const revoke = async ({ service }: Session, printer: Printer, id: string): Promise<void> => {
  const edited = await service.revokeAccess(id);
  await printer.print(text`Grant ${id} revoked\n`);
  noteOpen(edited, printer);
};

export const require = async (
  { service }: Session,
  printer: Printer,
  required: boolean,
): Promise<void> => {
  await service.requireAccess(required);
  await printer.print(required ? text`Grants are required\n` : text`Grants are not required\n`);
};

const HEADERS = ["ID", "ROLE", "CLUSTER", "NAMESPACE", "ARN"] as const;
const row = ({ id, role, cluster, namespace = "*", arn }: GrantView) => [
  id,
  role,
  cluster,
  namespace,
  arn,
];

export const list = async (
  { service }: Session,
  printer: Printer,
  output: "table" | DocumentFormat,
): Promise<void> => {
  const access = await service.access();
  if (output !== "table") {
    await printer.print(documentText(access, output));
    return;
  }
  if (access.grants.length === 0) await printer.print(text`No grants\n`);
  else await printer.print(lines(new Table(HEADERS).lines(access.grants.map(row))));
  noteOpen(access, printer);
};

/** Throws `cli.denied`, which prints nothing, so that the exit code says it. */
export const canI = async (
  { service }: Session,
  printer: Printer,
  query: CanIQuery,
  output: "text" | DocumentFormat,
): Promise<void> => {
  const answer = await service.canI(query);
  const because = answer.grant === undefined ? text`` : text`, by grant ${answer.grant}`;
  const words = answer.allowed ? text`yes${because}\n` : text`no\n`;
  await printer.print(output === "text" ? words : documentText(answer, output));
  if (!answer.allowed) throw new TidemarkError("cli.denied", "It is not allowed", {});
};
