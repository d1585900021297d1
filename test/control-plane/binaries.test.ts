import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { binariesFolder, controlPlaneBinaries, KUBERNETES_VERSION, PROGRAMS } from "./binaries.ts";

const RUN = join(import.meta.dirname, "run.ts");
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-binaries-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe("the programs of a control plane", () => {
  it("are in the folder that KUBEBUILDER_ASSETS names, else in a folder of the user's cache that names their version", () => {
    const name = `kube-${KUBERNETES_VERSION}`;
    expect(binariesFolder({ KUBEBUILDER_ASSETS: "assets", XDG_CACHE_HOME: "cache" })).toBe(
      "assets",
    );
    expect(binariesFolder({ XDG_CACHE_HOME: "cache" })).toBe(join("cache", "tidemark", name));
    expect(binariesFolder({})).toBe(join(homedir(), ".cache", "tidemark", name));
  });

  it("are missing, with the command that builds them, until all of them are there", () => {
    const env = { KUBEBUILDER_ASSETS: dir };
    expect(controlPlaneBinaries(env)).toEqual({
      kind: "missing",
      message: `there is no etcd in "${dir}"; "npm run prove -- control-plane --build" builds it there, with Go`,
    });
    for (const name of PROGRAMS) writeFileSync(join(dir, name), "");
    expect(controlPlaneBinaries(env)).toEqual({ kind: "found", folder: dir });
  });
});

describe("npm run prove -- control-plane", () => {
  it("says in one line that there is no Go", () => {
    const env = { PATH: join(dir, "nothing"), KUBEBUILDER_ASSETS: join(dir, "absent") };
    const { status, stdout, stderr } = spawnSync(process.execPath, [RUN, "--build"], {
      env,
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      "Cannot build the control plane: there is no go; install Go 1.26 or newer, or set KUBEBUILDER_ASSETS to a folder that has the programs\n",
    );
  });

  it("asks for the modules of the version that it names", () => {
    expect(readFileSync(join(import.meta.dirname, "kube/go.mod"), "utf8")).toContain(
      `k8s.io/kubernetes v${KUBERNETES_VERSION} `,
    );
  });
});
