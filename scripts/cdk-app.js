/**
 * The CDK app, as `cdk.json` runs it: builds the functions' bundles, bundles `infra/app.ts`, and synthesizes. Needs no account, no network
 * and no Docker.
 */
const { ensureBuild, root } = require("./build");
const { withInfra } = require("./load-infra");

const bundles = ensureBuild();
withInfra("infra/app.ts", ({ synthesize }) => synthesize(root, bundles));
