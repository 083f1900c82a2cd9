import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  ListExecutionsCommand,
  type SFNClient,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";
import { drained, type Load, type Operation } from "../../../test/support/operation-verdict";

const retry = [{ ErrorEquals: ["States.ALL"], IntervalSeconds: 1, MaxAttempts: 20, BackoffRate: 1 }];

/** Branches, a wait, and sometimes a function whose process may be killed. */
const definition = JSON.stringify({
  QueryLanguage: "JSONata",
  StartAt: "Each",
  States: {
    Each: {
      Type: "Map",
      Items: "{% [1, 2, 3] %}",
      ItemProcessor: {
        StartAt: "One",
        States: { One: { Type: "Pass", Output: "{% $states.input * 2 %}", End: true } },
      },
      Output: "{% {'id': $states.context.Execution.Name, 'sum': $sum($states.result)} %}",
      Next: "Which",
    },
    Which: {
      Type: "Choice",
      Choices: [{ Condition: "{% $states.context.Execution.Input.invoke %}", Next: "Invoke" }],
      Default: "Wait",
    },
    Invoke: {
      Type: "Task",
      Resource: "arn:aws:states:::lambda:invoke",
      Arguments: { FunctionName: "ringmaster-reconcile-runs", Payload: {} },
      Output: "{% $states.input %}",
      Retry: retry,
      Next: "Wait",
    },
    Wait: { Type: "Wait", Seconds: 1, End: true },
  },
});
const stateMachineArn = "arn:aws:states:us-east-1:000000000000:stateMachine:kills";

/** Executions, with a stock Step Functions client. */
export async function statesLoad(client: SFNClient): Promise<Load> {
  const roleArn = "arn:aws:iam::000000000000:role/kills";
  await client.send(new CreateStateMachineCommand({ name: "kills", definition, roleArn }));
  return {
    name: "Step Functions",
    weight: 2,
    draw: (random, id) => execution(client, id, random() < 0.3),
    settle: () =>
      drained("executions run", async () => {
        const query = { stateMachineArn, statusFilter: "RUNNING" as const };
        const { executions = [] } = await client.send(new ListExecutionsCommand(query));
        return executions.map(({ name }) => name ?? "");
      }),
  };
}

function execution(client: SFNClient, id: string, invoke: boolean): Operation {
  return {
    kind: "Step Functions: execution",
    id,
    repeatable: true,
    async send(again) {
      try {
        await client.send(new StartExecutionCommand({ stateMachineArn, name: id, input: JSON.stringify({ invoke }) }));
      } catch (error) {
        // A repetition after the execution's end.
        if (again && (error as Error).name === "ExecutionAlreadyExists") return;
        throw error;
      }
    },
    async count() {
      const executionArn = `${stateMachineArn.replace("stateMachine", "execution")}:${id}`;
      try {
        const { status, output } = await client.send(new DescribeExecutionCommand({ executionArn }));
        if (status !== "SUCCEEDED" || output !== JSON.stringify({ id, sum: 12 }))
          throw new Error(`${status} ${output}`);
        return 1;
      } catch (error) {
        if ((error as Error).name === "ExecutionDoesNotExist") return 0;
        throw error;
      }
    },
  };
}
