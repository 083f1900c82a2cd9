import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { App, type Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { type DeploymentConfig, type RingmasterConfig, readConfig } from "../../infra/config";
import { definePlatform } from "../../infra/platform";
import type { PlatformStacks } from "../../infra/platform-stacks";
import { authorizer, functions } from "../../platform/functions";
import { functionPermissionsFile } from "../../platform/permissions";
import { stateMachineText } from "../../state-machines/definition";
import { permissionsFile } from "../support/permissions";

export const repository = path.resolve(__dirname, "../..");

export interface Synthesized {
  readonly app: App;
  readonly stacks: PlatformStacks;
  readonly bundles: string;
  template(stack: keyof PlatformStacks): Template;
  remove(): void;
}

/**
 * Synthesizes the platform like `cdk synth` with the context of `cdk.json`, but with empty functions instead of the
 * build and without CDK's rules (see `newApp`). Each function has different content, so each asset has its own key.
 */
export function synthesizePlatform(
  context: Readonly<Record<string, unknown>> = {},
  config: RingmasterConfig = {},
): Synthesized {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "infra-"));
  const bundles = path.join(directory, "bundles");
  fs.mkdirSync(path.join(bundles, "lambdas"), { recursive: true });
  for (const { name } of [...functions, authorizer]) {
    fs.writeFileSync(path.join(bundles, "lambdas", `${name}.js`), `exports.handler = async () => "${name}";`);
  }
  fs.copyFileSync(permissionsFile, path.join(bundles, functionPermissionsFile));
  fs.mkdirSync(path.join(bundles, "state-machines"));
  fs.writeFileSync(path.join(bundles, "state-machines", "training-run.asl.json"), stateMachineText());
  const app = newApp(path.join(directory, "out"), context);
  const stacks = definePlatform(app, { repository, bundles }, config);
  return {
    app,
    stacks,
    bundles,
    template: (stack) => Template.fromStack(stacks[stack]),
    remove: () => fs.rmSync(directory, { recursive: true }),
  };
}

/** Without CDK's own rules, which take 10 s of processor time. `peers/cfn-lint.test.ts` has more of them. */
const newApp = (outdir: string, context: Readonly<Record<string, unknown>> = {}) =>
  new App({
    context: { ...defaultContext(), "aws:cdk:disable-creation-stack-traces": true, ...context },
    treeMetadata: false,
    outdir,
    builtinCloudFormationValidation: false,
  });

/** The context that skips the packaging and copying of assets, because templates do not depend on them. */
export const unstagedAssets: Readonly<Record<string, unknown>> = {
  "aws:cdk:bundling-stacks": [],
  "aws:cdk:disable-asset-staging": true,
};
/** The context that also skips the trainer's image. */
export const withoutAssets: Readonly<Record<string, unknown>> = {
  ...unstagedAssets,
  trainerImage: "registry.example.com/trainer:1",
};

/** The directories that are removed after the test file that imports this module. */
const made: string[] = [];
afterAll(() => {
  for (const directory of made) fs.rmSync(directory, { recursive: true, force: true });
});

export function synthesizeStack<S extends Stack>(
  settings: RingmasterConfig,
  make: (app: App, config: DeploymentConfig) => S,
) {
  const outdir = fs.mkdtempSync(path.join(os.tmpdir(), "infra-stack-"));
  made.push(outdir);
  const app = newApp(outdir);
  const stack = make(app, readConfig(settings, app.node));
  return {
    app,
    stack,
    get template() {
      return Template.fromStack(stack);
    },
  };
}

function defaultContext(): Readonly<Record<string, unknown>> {
  const { context } = JSON.parse(fs.readFileSync(path.join(repository, "cdk.json"), "utf8")) as {
    readonly context: Readonly<Record<string, unknown>>;
  };
  return context;
}

export interface Resource {
  readonly Properties: Record<string, unknown>;
}
export const resources = (template: Template, type: string) =>
  Object.values(template.findResources(type)) as Resource[];

export interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}
export function statementsOf(template: Template, role: string): readonly Statement[] {
  return resources(template, "AWS::IAM::Policy")
    .filter(({ Properties }) => JSON.stringify(Properties["Roles"]).includes(role))
    .flatMap(
      ({ Properties }) => (Properties["PolicyDocument"] as { readonly Statement: readonly Statement[] }).Statement,
    );
}
