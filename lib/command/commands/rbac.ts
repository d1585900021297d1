import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { packageVersion } from "../../dashboard/serve/version.ts";
import { rbacFiles } from "../../stack/cluster/rights/rbac-forms.ts";
import {
  type AccessEntry,
  accessEntryText,
  type RbacOptions,
  rbacText,
  sourceRbacText,
} from "../../stack/cluster/rights/rbac-text.ts";
import { type RbacForm, readScalableKind } from "../../stack/cluster/rights/rules.ts";
import { eksFault } from "../../rules/model/aws-names.ts";
import { present } from "../../rules/model/json.ts";
import { isServiceAccount, SERVICE_ACCOUNT_WORDS } from "../../rules/model/kubernetes-names.ts";
import { block, lines } from "../../stack/report/printed.ts";
import { chooseTarget, type TargetOptions } from "../select/command-target.ts";
import type { Printer, Session } from "../io.ts";
import { usage } from "../usage-error.ts";
import { registeredSource } from "./source.ts";

export interface RbacCommandOptions extends Pick<TargetOptions, "stack" | "stage"> {
  readonly namespaces?: string;
  readonly readOnly?: true;
  readonly status?: true;
  readonly doctor?: true;
  readonly kind?: readonly string[];
  readonly eks?: string;
  readonly region?: string;
  readonly roleArn?: string;
  readonly source?: string;
  readonly awsAuth?: true;
  readonly serviceAccount?: string;
  readonly output?: "yaml" | RbacForm;
  readonly to?: string;
}

/**
 * Prints the roles, and for an EKS cluster the command for its access entry: of the options, or of
 * the stored cluster.
 */
export const rbac = async (
  printer: Printer,
  request: RbacRequest,
  cluster?: { readonly session: Session; readonly name: string },
): Promise<void> => {
  const entry =
    request.entry ??
    (cluster && !request.roles.serviceAccount
      ? await storedEntry(cluster.session, cluster.name)
      : undefined);
  const { files, stack, awsAuth, roles } = request;
  if (awsAuth && !entry)
    throw usage(
      "Cannot print a mapping for the ConfigMap aws-auth: name an EKS cluster with --eks and --region, or one that was added by EKS",
    );
  if (roles.serviceAccount && request.entry)
    throw usage(
      "Cannot print an access entry for a service account: give --service-account or --eks, not both",
    );
  if (files) return writeForm(printer, files, request, entry);
  const access =
    entry === undefined ? "" : accessEntryText({ ...entry, ...present({ stack, awsAuth }) });
  await printer.print(block(rbacText(roles) + access));
};

/** Writes the files of a form into its folder, and prints their names. Nothing is overwritten. */
const writeForm = async (
  printer: Printer,
  { form, folder }: NonNullable<RbacRequest["files"]>,
  { roles }: RbacRequest,
  entry: AccessEntry | undefined,
): Promise<void> => {
  const written = rbacFiles(form, roles, { version: packageVersion(), ...present({ entry }) });
  for (const { path, text: content } of written) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, { flag: "wx" }).catch((cause: NodeJS.ErrnoException) => {
      throw cause.code === "EEXIST"
        ? usage(
            `Cannot write "${file}": it exists already; give another folder, or move the file away`,
          )
        : cause;
    });
    await printer.print(lines([file]));
  }
};

/**
 * Prints the role for a registered source that is a service of the cluster. Throws
 * `service.unknown`.
 */
export const sourceRbac = async (
  session: Session,
  printer: Printer,
  name: string,
): Promise<void> => {
  const { service } = await registeredSource(session, name);
  if (!service)
    throw usage(
      `Cannot print a role for source "${name}": it is reached outside of the clusters, so that none must allow it`,
    );
  await printer.print(block(sourceRbacText(name, service)));
};

interface RbacRequest {
  readonly roles: RbacOptions;
  readonly entry?: AccessEntry;
  /** The name of the stack, where the command was given one. */
  readonly stack?: string;
  readonly awsAuth?: true;
  /** Files in a folder, in place of what is printed. */
  readonly files?: { readonly form: RbacForm; readonly folder: string };
}

/** Reads the options. Throws usage errors that name the option. */
export const rbacRequest = ({
  namespaces,
  readOnly,
  status,
  doctor,
  kind = [],
  awsAuth,
  serviceAccount,
  ...target
}: RbacCommandOptions): RbacRequest => ({
  ...present({
    entry: entryOf(target),
    stack: stackName(target),
    awsAuth,
    files: filesOf(target, awsAuth),
  }),
  roles: {
    readOnly: readOnly === true,
    status: status === true,
    doctor: doctor === true,
    kinds: kind.map(readScalableKind).filter((read) => read !== undefined),
    ...(namespaces !== undefined && { namespaces: namespacesIn(namespaces) }),
    ...(serviceAccount !== undefined && { serviceAccount: accountIn(serviceAccount) }),
  },
});

const accountIn = (text: string): NonNullable<RbacOptions["serviceAccount"]> => {
  const [namespace = "", name = ""] = text.split("/");
  if (!isServiceAccount(text))
    throw usage(`Cannot read --service-account "${text}": ${SERVICE_ACCOUNT_WORDS}`);
  return { namespace, name };
};

const filesOf = (
  { output = "yaml", to }: Pick<RbacCommandOptions, "output" | "to">,
  awsAuth: true | undefined,
): RbacRequest["files"] => {
  if (output === "yaml") {
    if (to !== undefined)
      throw usage(
        "Cannot write YAML into a folder: leave --to out, and give the output to kubectl",
      );
    return undefined;
  }
  if (to === undefined)
    throw usage(`Cannot write the files of ${output}: give their folder with --to`);
  if (awsAuth)
    throw usage(
      `Cannot write a mapping for the ConfigMap aws-auth with -o ${output}: leave -o out, and the commands are printed`,
    );
  return { form: output, folder: to };
};

const stackName = ({
  stack,
  stage,
}: Pick<TargetOptions, "stack" | "stage">): string | undefined => {
  const target =
    stack === undefined ? undefined : chooseTarget({ stack, ...present({ stage }) }, {});
  return target?.kind === "named stack" ? target.name : undefined;
};

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const namespacesIn = (text: string): readonly string[] => {
  const names = text.split(",");
  const wrong = names.find((name) => !LABEL.test(name));
  if (wrong !== undefined)
    throw usage(
      `Cannot read --namespaces "${text}": "${wrong}" is no name of a namespace; give NAMESPACE,NAMESPACE`,
    );
  return [...new Set(names)];
};

const entryOf = ({
  eks,
  region,
  roleArn,
}: Pick<RbacCommandOptions, "eks" | "region" | "roleArn">): AccessEntry | undefined => {
  if (eks === undefined && region === undefined && roleArn === undefined) return undefined;
  if (eks === undefined)
    throw usage(
      "Cannot print an access entry: --region and --role-arn need --eks, the name of the EKS cluster",
    );
  if (region === undefined) throw usage("Cannot print an access entry: --eks needs --region");
  const entry: AccessEntry = { clusterId: eks, region, ...(roleArn !== undefined && { roleArn }) };
  const fault = eksFault(entry);
  if (fault !== undefined) throw usage(`Cannot print an access entry for "${eks}": ${fault}`);
  return entry;
};

/**
 * A stored connection that is no address of EKS gets no command, because its values would become a
 * part of it.
 */
const storedEntry = async (
  { service }: Session,
  name: string,
): Promise<AccessEntry | undefined> => {
  const { connection } = await service.cluster(name);
  if (connection?.kind !== "eks" || eksFault(connection) !== undefined) return undefined;
  const { clusterId, region, roleArn } = connection;
  return { clusterId, region, ...(roleArn !== undefined && { roleArn }) };
};
