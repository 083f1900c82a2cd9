import fs from "node:fs";
import { ArnFormat, RemovalPolicy, Stack } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { DefinitionBody, LogLevel, StateMachine } from "aws-cdk-lib/aws-stepfunctions";
import type { Construct } from "constructs";
import { resourceNames } from "../../platform/trainer-job";
import { userFunctionPattern } from "../../platform/user-functions";
import { grant } from "../grants";

export interface TrainingStateMachineProps {
  readonly prefix: string;
  /** The ASL file. `${name}` in it means the function with that name. */
  readonly definitionFile: string;
  readonly functions: ReadonlyMap<string, IFunction>;
  readonly retention: RetentionDays;
}

/** The state machine of a run. It may invoke only the functions that its definition names. */
export class TrainingStateMachine extends StateMachine {
  constructor(
    scope: Construct,
    id: string,
    { prefix, definitionFile, functions, retention }: TrainingStateMachineProps,
  ) {
    const named = new Set<IFunction>();
    // CloudFormation's own substitutions do not support names with hyphens.
    const definition = fs.readFileSync(definitionFile, "utf8").replace(/\$\{([a-z-]+)\}/g, (_whole, name: string) => {
      const handler = functions.get(name);
      if (!handler) throw new Error(`${definitionFile} names a function that platform/functions.ts does not: ${name}`);
      named.add(handler);
      return handler.functionArn;
    });
    const { stateMachine } = resourceNames(prefix);
    super(scope, id, {
      stateMachineName: stateMachine,
      definitionBody: DefinitionBody.fromString(definition),
      tracingEnabled: true,
      logs: {
        level: LogLevel.ALL,
        // The causes of errors may quote data.
        includeExecutionData: false,
        destination: new LogGroup(scope, `${id}Log`, {
          logGroupName: `/aws/vendedlogs/states/${stateMachine}`,
          retention,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
      },
    });
    // `fromString` grants nothing to the role.
    // Steps of pipelines call these by names that their input gives.
    const called = (["run-module", "api"] as const).map((name) => functions.get(name)!);
    const ofUsers = Stack.of(this).formatArn({
      ...{ service: "lambda", resource: "function", resourceName: userFunctionPattern(prefix) },
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const resources = [...new Set([...named, ...called].map((each) => each.functionArn)), ofUsers];
    this.addToRolePolicy(new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources }));
    // A distributed Map starts child executions of this machine (Step Functions developer guide, "IAM policies for using
    // Distributed Map states"). The ARNs are built from the name, because the machine depends on its role's policy.
    grant(
      this.role,
      [
        { resource: "state-machine", actions: ["states:StartExecution"] },
        { resource: "executions", actions: ["states:DescribeExecution", "states:StopExecution"] },
      ],
      prefix,
    );
  }
}
