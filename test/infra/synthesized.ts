import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { App, type Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { type DeploymentConfig, type RingmasterConfig, readConfig } from "../../infra/config";
import { definePlatform, type PlatformStacks } from "../../infra/platform";
import { authorizer, functions } from "../../platform/functions";

export const repository = path.resolve(__dirname, "../..");

export interface Synthesized {
  readonly app: App;
  readonly stacks: PlatformStacks;
  template(stack: keyof PlatformStacks): Template;
  remove(): void;
}

/**
 * The platform as `cdk synth` makes it, with the context of `cdk.json`, but with empty functions in place of the build: what they hold is not
 * what these tests are about, and each asset is by its content its own.
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
  fs.cpSync(path.join(repository, "state-machines"), path.join(bundles, "state-machines"), { recursive: true });
  const app = new App({ context: { ...defaultContext(), ...context }, outdir: path.join(directory, "out") });
  const stacks = definePlatform(app, { repository, bundles }, config);
  return {
    app,
    stacks,
    template: (stack) => Template.fromStack(stacks[stack]),
    remove: () => fs.rmSync(directory, { recursive: true }),
  };
}

/** Context with which assets are neither put together nor copied: for tests of templates, to which it makes no difference. */
export const withoutAssets: Readonly<Record<string, unknown>> = {
  "aws:cdk:bundling-stacks": [],
  "aws:cdk:disable-asset-staging": true,
  trainerImage: "registry.example.com/trainer:1",
};

/** Removed when the test file that imports this is done. */
const made: string[] = [];
afterAll(() => {
  for (const directory of made) fs.rmSync(directory, { recursive: true, force: true });
});

/** One stack of the platform by itself, where the others do not matter: made at once. */
export function synthesizeStack<S extends Stack>(
  settings: RingmasterConfig,
  make: (app: App, config: DeploymentConfig) => S,
) {
  const outdir = fs.mkdtempSync(path.join(os.tmpdir(), "infra-stack-"));
  made.push(outdir);
  const app = new App({ context: defaultContext(), outdir });
  const stack = make(app, readConfig(settings, app.node));
  return { app, stack, template: Template.fromStack(stack) };
}

/** What `cdk.json` sets. */
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
/** The statements of the policies attached to the role whose logical id contains the text. */
export function statementsOf(template: Template, role: string): readonly Statement[] {
  return resources(template, "AWS::IAM::Policy")
    .filter(({ Properties }) => JSON.stringify(Properties["Roles"]).includes(role))
    .flatMap(
      ({ Properties }) => (Properties["PolicyDocument"] as { readonly Statement: readonly Statement[] }).Statement,
    );
}
export const actionsOf = (statements: readonly Statement[]) => statements.flatMap(({ Action }) => Action).sort();
