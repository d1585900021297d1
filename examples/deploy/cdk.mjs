// Deploys the stack with the CDK: `npx cdk deploy --app "node cdk.mjs"`. Package with `npm run package -- --s3-uri s3://BUCKET/tidemark/VERSION` before, and put dist/stack there. TEMPLATE is the path of template.json.
import { App, Stack, Tags } from "aws-cdk-lib";
import { CfnInclude } from "aws-cdk-lib/cloudformation-include";

const {
  TEMPLATE = "dist/stack/template.json",
  BUCKET = "artifacts",
  VERSION = "0.2.0",
  BOUNDARY = "",
} = process.env;

const app = new App();
const stack = new Stack(app, "tidemark-prod", { stackName: "tidemark-prod" });
new CfnInclude(stack, "Tidemark", {
  templateFile: TEMPLATE,
  parameters: {
    NamePrefix: "tidemark-prod",
    CodeBucket: BUCKET,
    CodeFolder: `tidemark/${VERSION}/`,
    PermissionsBoundary: BOUNDARY,
    RolePath: "/platform/",
  },
});
Tags.of(stack).add("team", "platform");
app.synth();
