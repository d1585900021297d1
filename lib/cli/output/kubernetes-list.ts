/** A list, as Kubernetes prints one. */
export const listOf = <Item>(items: readonly Item[]) => ({ apiVersion: "v1", kind: "List", items });
