import { chmodSync, existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hpa } from "../service/world/manifests.ts";
import { type Folder, type Said, shopFolder } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
beforeAll(async () => {
  folder = await shopFolder();
  expect(
    await inside(["apply", "-f", "-", "--cluster", "us-1", "--data", folder.data], {
      stdin: hpa("one", { namespace: "lab" }),
    }),
  ).toMatchObject({
    code: 0,
  });
});
afterAll(() => folder.remove());

/**
 * Runs the real command with a script as the editor; each call runs the next of its steps, the last
 * one again and again.
 */
const edit = async (
  name: string,
  ...steps: readonly string[]
): Promise<Said & { readonly seen: string }> => {
  const seen = folder.write("seen", "");
  const turns = folder.write("turns", "");
  const cases = steps
    .map((step, at) => `${at === steps.length - 1 ? "*" : at}) ${step} ;;`)
    .join("\n");
  const script = folder.write(
    "editor.sh",
    `#!/bin/sh\nfile="$2"; cat "$file" >> ${seen}; turn=$(wc -c < ${turns} | tr -d ' '); printf x >> ${turns}\ncase $turn in\n${cases}\nesac\n`,
  );
  chmodSync(script, 0o755);
  const said = await folder.tidemark(["edit", name], {
    env: { KUBE_EDITOR: `${script} --wait`, EDITOR: "false" },
  });
  return { ...said, seen: readFileSync(seen, "utf8") };
};

const generation = async (): Promise<string> =>
  (
    await inside([
      "get",
      "lab/one",
      "-o",
      "jsonpath={.metadata.generation} {.spec.maxReplicas}",
      "--data",
      folder.data,
    ])
  ).out;
const set = (from: string, to: string): string => `sed -i 's/${from}/${to}/' "$file"`;

describe("tidemark edit", () => {
  it("applies what the editor saved", async () => {
    const { code, out, seen } = await edit("lab/one", set("maxReplicas: 10", "maxReplicas: 11"));
    expect([code, out]).toEqual([
      0,
      'HorizontalPodAutoscaler "one" in namespace "lab" of cluster "us-1" edited\n',
    ]);
    expect(seen).toContain("# Edit the autoscaler below.");
    expect(seen).not.toContain("status:");
    expect(await generation()).toBe("2 11");
  });

  it.each([
    ["nothing was changed", "true"],
    ["the file was emptied", ': > "$file"'],
  ])("is cancelled where %s", async (_, step) => {
    expect(await edit("hpa/one", step)).toMatchObject({
      code: 0,
      out: "Edit cancelled, no changes made\n",
      err: "",
    });
    expect(await generation()).toBe("2 11");
  });

  it("comes back with the problem until the edit is accepted", async () => {
    const { code, out, seen } = await edit(
      "lab/one",
      set("maxReplicas: 11", "maxReplicas: 1"),
      set("maxReplicas: 1$", "maxReplicas: 12"),
    );
    expect([code, out]).toEqual([
      0,
      'HorizontalPodAutoscaler "one" in namespace "lab" of cluster "us-1" edited\n',
    ]);
    expect(seen).toMatch(/^# Cannot accept "edit", line \d+: spec\.maxReplicas .*$/m);
    expect(await generation()).toBe("3 12");
  });

  it("keeps the text where the person gives up a refused edit", async () => {
    const { code, out, err } = await edit("lab/one", set("name: one", "name: other"), "true");
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain('error: Cannot edit "one": no valid changes were saved\n');
    expect(err).toContain(
      'the file must hold this one HorizontalPodAutoscaler, with the name "one" and the namespace "lab"',
    );
    const kept = /^note: your changes are kept in (.+)$/m.exec(err)?.[1] ?? "";
    expect(readFileSync(kept, "utf8")).toContain("name: other");
    expect(await generation()).toBe("3 12");
  });

  it("never undoes the edit that another person made meanwhile", async () => {
    const manifest = folder.write("theirs.yaml", hpa("one", { namespace: "lab", max: 20 }));
    let raced = false;
    const editFile = async (file: string): Promise<void> => {
      const { writeFileSync } = await import("node:fs");
      if (!raced) {
        raced = true;
        // The folder is open in this process, so the other edit goes through the same tables.
        await other?.apply([{ file: manifest, text: readFileSync(manifest, "utf8") }], {
          cluster: "us-1",
          dryRun: false,
        });
      }
      writeFileSync(file, readFileSync(file, "utf8").replace("maxReplicas: 12", "maxReplicas: 13"));
    };
    const { openTarget } = await import("../../lib/command/session.ts");
    let other: Awaited<ReturnType<typeof openTarget>>["service"] | undefined;
    const { code, err } = await inside(["edit", "lab/one", "--data", folder.data], {
      editFile,
      open: async (target, by) => {
        const session = await openTarget(target, by);
        other = session.service;
        return session;
      },
    });
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/the edit is for generation 3, and generation 4 is stored/),
    ]);
    expect(await generation()).toBe("4 20");
    expect(existsSync(/kept in (.+)$/m.exec(err)?.[1] ?? "")).toBe(true);
  });

  it("says which editor failed", async () => {
    const { code, err } = await folder.tidemark(["edit", "lab/one"], {
      env: { KUBE_EDITOR: "false" },
    });
    expect([code, err.split("\n").find((line) => line.startsWith("error"))]).toEqual([
      1,
      'error: Cannot edit: the editor "false" ended with 1; choose one with KUBE_EDITOR or EDITOR',
    ]);
  });
});
