/** A plugin of osls. The parameter `tags` is one text, as team=payments,cost=42, and osls wants a map: it tags the stack, and CloudFormation each resource of it. */
// biome-ignore lint/style/noDefaultExport: osls loads the default export of a plugin.
export default class StackTags {
  constructor(serverless) {
    this.hooks = {
      initialize: () => {
        const { provider, custom } = serverless.service;
        const pairs = String(custom.tags ?? "")
          .split(",")
          .filter((pair) => pair !== "");
        provider.stackTags = Object.fromEntries(
          pairs.map((pair) => [
            pair.slice(0, pair.indexOf("=")),
            pair.slice(pair.indexOf("=") + 1),
          ]),
        );
      },
    };
  }
}
