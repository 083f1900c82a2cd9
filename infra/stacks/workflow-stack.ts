import path from "node:path";
import { Stack, type StackProps } from "aws-cdk-lib";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { StateMachine } from "aws-cdk-lib/aws-stepfunctions";
import type { Construct } from "constructs";
import { type FunctionName, functions } from "../../core/platform/functions";
import type { DeploymentConfig } from "../config";
import { functionCode } from "../constructs/bundled-code";
import { packageLayer } from "../constructs/package-layer";
import { PlatformFunction } from "../constructs/platform-function";
import { RunRole } from "../constructs/run-role";
import { TrainingStateMachine } from "../constructs/training-state-machine";
import { platformEnvironment, teamDirectory } from "../names";
import { retentionOf } from "../retention";

export interface WorkflowStackProps extends StackProps {
  /** Directory of the built bundles (`scripts/build.js`). */
  readonly bundles: string;
  readonly nodeModules: string;
  readonly config: DeploymentConfig;
}

/** Functions that people call, and that must know whose team the caller is in. */
const takesCalls: ReadonlySet<string> = new Set(["api", "stream-metrics"]);

/** What happens: the functions, and the state machine that calls them. */
export class WorkflowStack extends Stack {
  readonly functions: ReadonlyMap<FunctionName, IFunction>;
  readonly stateMachine: StateMachine;

  constructor(scope: Construct, id: string, { bundles, nodeModules, config, ...props }: WorkflowStackProps) {
    super(scope, id, props);
    const { prefix } = config;
    const environment = platformEnvironment(this, config);
    const layers = {
      duckdb: packageLayer(this, "duckdb", nodeModules),
      tfjs: packageLayer(this, "tfjs", nodeModules),
    };
    this.functions = new Map(
      functions.map((definition) => [
        definition.name,
        new PlatformFunction(this, {
          definition,
          code: functionCode(bundles, definition.name),
          layers: definition.externals.map((external) => layers[external]),
          environment: { ...environment, ...(takesCalls.has(definition.name) ? teamDirectory(config) : {}) },
          prefix,
          retention: retentionOf(config),
        }),
      ]),
    );
    const broker = this.functions.get("run-credentials")?.role;
    if (!broker)
      throw new Error("core/platform/functions.ts: run-credentials, which opens trainers' sessions, has no role");
    new RunRole(this, "RunRole", { prefix, broker });
    this.stateMachine = new TrainingStateMachine(this, "TrainingRun", {
      prefix,
      definitionFile: path.join(bundles, "state-machines", "training-run.asl.json"),
      functions: this.functions,
    });
  }
}
