import { parseAllDocuments } from "yaml";
import { rbacText } from "../../lib/stack/cluster/rights/rbac-text.ts";
import { type Scene, until } from "./scene.ts";

const USER = { user: "tidemark", groups: ["tidemark"] };

/**
 * Gives Tidemark the role that `tidemark cluster rbac --status` prints, in the namespace of a scene
 * alone: the files share one cluster.
 */
export const giveStatusRole = async ({
  admin,
  namespace,
}: Pick<Scene, "admin" | "namespace">): Promise<void> => {
  const documents = parseAllDocuments(rbacText({ status: true, namespaces: [namespace] })).map(
    (document): { readonly kind: string; readonly metadata: { readonly name: string } } =>
      document.toJS(),
  );
  for (const role of documents.filter(({ metadata }) => metadata.name === "tidemark-status"))
    await admin(
      "POST",
      `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/${role.kind.toLowerCase()}s`,
      role,
    );
  const resourceAttributes = {
    namespace,
    group: "events.k8s.io",
    resource: "events",
    verb: "create",
  };
  // The authorizer knows a new role a moment after it was made.
  await until("the role counts", async () => {
    const { status } = await admin("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      spec: { ...USER, resourceAttributes },
    });
    return (status as { readonly allowed: boolean }).allowed;
  });
};
