import { afterAll, beforeEach, describe, inject } from "vitest";
import { newScene, type Scene, type SceneOptions } from "./scene.ts";

type MakeScene = (name: string, options?: SceneOptions) => Promise<Scene>;

/**
 * A group of tests that need the real API server. Without its programs they are skipped, with the
 * reason.
 */
export const onServer = (name: string, tests: (scene: MakeScene) => void): void => {
  const { missing } = inject("cluster");
  describe(name, () => {
    const scenes: Scene[] = [];
    beforeEach(({ skip }) => skip(missing !== undefined, missing));
    afterAll(async () => {
      for (const scene of scenes) await scene.close();
    });
    tests(async (called, options) => {
      const scene = await newScene(called, options);
      scenes.push(scene);
      return scene;
    });
  });
};
