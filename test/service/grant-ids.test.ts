import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";

const ARN = "arn:aws:sts::000000000000:assumed-role/ops";

let world: ServiceWorld;
beforeAll(async () => {
  world = await serviceWorld();
});
afterAll(() => world.close());

describe("the id of a grant", () => {
  it("is another one where the first characters of two uids are the same, so that a revoke takes one grant", async () => {
    let made = 0;
    const service = openService({ ...world.context, newUid: () => `01234567-${++made}` });
    const ada = await service.grantAccess({ arn: `${ARN}/ada`, role: "edit", cluster: "*" });
    const bob = await service.grantAccess({ arn: `${ARN}/bob`, role: "view", cluster: "*" });
    expect([ada.id, bob.id]).toEqual(["01234567", "01234567-"]);
    await service.revokeAccess(bob.id ?? "");
    expect((await service.access()).grants.map(({ arn }) => arn)).toEqual([`${ARN}/ada`]);
  });
});
