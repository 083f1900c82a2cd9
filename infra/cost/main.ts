import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { App } from "aws-cdk-lib";
import settings from "../../ringmaster.config";
import { type DeploymentConfig, type RingmasterConfig, readConfig } from "../config";
import { definePlatform } from "../platform";
import { idleCostOf } from "./idle";
import { pricesAsOf } from "./prices";
import { renderIdle, renderRun } from "./render";
import { type RunPlan, runCostOf } from "./run";

const usage = `npm run cost
    What the platform of ringmaster.config.ts costs a month in which nothing happens. -c network.mode=private, or any other -c, as with cdk.
npm run cost -- --nodes 4 --hours 2 --market spot --instance g5.xlarge [--placement cluster] [--gradient-mb 100 --steps 10000]
    What a run costs.`;

/** The context that skips the assembly of assets, because the content of functions does not affect the cost. */
const withoutAssets = { "aws:cdk:bundling-stacks": [], "aws:cdk:disable-asset-staging": true };

/** @param outdir directory for the templates, which are not needed afterwards */
export function printCost(argv: readonly string[], repository: string, bundles: string, outdir: string): void {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      context: { type: "string", short: "c", multiple: true, default: [] },
      nodes: { type: "string" },
      hours: { type: "string" },
      market: { type: "string" },
      placement: { type: "string" },
      instance: { type: "string" },
      "gradient-mb": { type: "string" },
      steps: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const { context: flags } = JSON.parse(readFileSync(path.join(repository, "cdk.json"), "utf8")) as { context: object };
  const context = { ...flags, ...Object.fromEntries(values.context.map(pairOf)) };
  const app = new App({ context: { ...context, ...withoutAssets }, outdir });
  if (values.nodes !== undefined || values.hours !== undefined || values.instance !== undefined) {
    const plan = planOf(values, readConfig(settings, app.node));
    console.log(renderRun(plan, runCostOf(plan)));
    return;
  }
  console.log(renderIdle(idleCostOf(templatesOf(app, settings, repository, bundles)), pricesAsOf));
}

function templatesOf(app: App, config: RingmasterConfig, repository: string, bundles: string) {
  definePlatform(app, { repository, bundles }, config);
  return Object.fromEntries(app.synth().stacksRecursively.map(({ stackName, template }) => [stackName, template]));
}

type Options = Readonly<
  Record<"nodes" | "hours" | "market" | "placement" | "instance" | "gradient-mb" | "steps", string | undefined>
>;

/** @throws Error that lists all problems of the options */
export function planOf(options: Partial<Options>, { compute, network }: DeploymentConfig): RunPlan {
  const problems: string[] = [];
  const number = (
    name: keyof Options,
    fallback: number | undefined,
    rule: string,
    good: (value: number) => boolean,
  ) => {
    const text = options[name];
    const value = text === undefined ? fallback : Number(text);
    if (value !== undefined && Number.isFinite(value) && good(value)) return value;
    problems.push(`--${name} is ${text === undefined ? "missing" : JSON.stringify(text)}, but must be ${rule}`);
    return Number.NaN;
  };
  const market = options.market ?? "spot";
  if (market !== "spot" && market !== "on-demand") {
    problems.push(`--market is ${JSON.stringify(market)}, but must be spot or on-demand`);
  }
  const placement = options.placement ?? "spread";
  if (placement !== "spread" && placement !== "cluster") {
    problems.push(`--placement is ${JSON.stringify(placement)}, but must be spread or cluster`);
  } else if (placement === "cluster" && market === "spot") {
    problems.push('--placement is "cluster", but must be spread with --market spot: there is no cluster on spot');
  }
  const plan: RunPlan = {
    instanceType: options.instance ?? `${compute.gpu.instanceClasses[0]}.xlarge`,
    nodes: number("nodes", 1, "a whole number from 1 on", (value) => Number.isInteger(value) && value >= 1),
    hours: number("hours", undefined, "a number above 0", (value) => value > 0),
    market: market as RunPlan["market"],
    placement: placement as RunPlan["placement"],
    gradientMb: number("gradient-mb", 0, "a number from 0 on", (value) => value >= 0),
    steps: number("steps", 0, "a number from 0 on", (value) => value >= 0),
    diskGib: compute.diskGib,
    publicAddresses: network.mode === "public",
    zones: network.mode === "existing" ? new Set(network.subnetIds).size : network.zones,
  };
  if (problems.length > 0) throw new Error(`${problems.join(".\n")}.\n\n${usage}`);
  return plan;
}

function pairOf(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new Error(`-c is ${JSON.stringify(text)}, but must be a setting and its value: -c prefix=team-a`);
  return [text.slice(0, at), text.slice(at + 1)];
}
