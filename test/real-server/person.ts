import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { inject } from "vitest";
import type { Io } from "../../lib/command/io.ts";
import { kubeconfigText } from "../control-plane/kubeconfig.ts";
import type { Scene } from "./scene.ts";

/** A kubeconfig with the rights of an administrator, as a person has it. */
export const personKubeconfig = (scene: Scene): string => {
  const { url, ca, adminToken } = inject("cluster");
  const path = join(dirname(scene.kubeconfig), "person");
  writeFileSync(path, kubeconfigText({ url, ca }, { token: adminToken }), { mode: 0o600 });
  return path;
};

/** Runs commands on the service of a scene. */
export const sessionOn =
  ({ service }: Scene): Io["open"] =>
  async () => ({
    place: "folder here",
    service,
    nowMs: Date.now(),
    clock: Date.now,
    close: async () => {},
  });
