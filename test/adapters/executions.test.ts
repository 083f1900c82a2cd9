import { DescribeExecutionCommand, type SFNClient, StartExecutionCommand } from "@aws-sdk/client-sfn";
import { createExecutions } from "../../adapters/stepfunctions/executions";

const arn = "arn:aws:states:us-east-1:000000000000:stateMachine:ringmaster";
const approval = {
  team: "vision",
  runId: "run-1",
  model: "digits",
  version: 1,
  request: "run-1",
  expiresAt: "2026-02-01T00:00:00.000Z",
};

function over(ended: Readonly<Record<string, string>>) {
  const started: { name: string; input: string }[] = [];
  const statusOf = (name: string) => Object.entries(ended).find(([end]) => name.endsWith(end))?.[1];
  const client = {
    async send(command: unknown) {
      if (command instanceof StartExecutionCommand) {
        const { name = "", input = "" } = command.input;
        if (statusOf(name) !== undefined) throw Object.assign(new Error("taken"), { name: "ExecutionAlreadyExists" });
        started.push({ name, input });
        return {};
      }
      if (command instanceof DescribeExecutionCommand) return { status: statusOf(command.input.executionArn ?? "") };
      throw new Error("unexpected command");
    },
  };
  return { started, executions: createExecutions(client as unknown as SFNClient, arn) };
}

describe("the execution of a request for an approval", () => {
  it("has a name of team, model, version and request; its input does not name the team", async () => {
    const { started, executions } = over({});
    await executions.startApproval(approval);
    await executions.startApproval({ ...approval, expiresAt: "2027-01-01T00:00:00.000Z" });
    await executions.startApproval({ ...approval, team: "audio" });
    const [first, again, other] = started;
    expect(first!.name).toMatch(/^approval-[0-9a-f]{32}$/);
    expect([again!.name === first!.name, other!.name === first!.name]).toEqual([true, false]);
    expect(JSON.parse(first!.input)).toEqual({ ...approval, team: undefined });
  });

  it.each(["FAILED", "ABORTED", "TIMED_OUT"])("is replaced if it is %s", async (status) => {
    const ended: Record<string, string> = {};
    const { started, executions } = over(ended);
    for (const _ of [1, 2, 3]) {
      await executions.startApproval(approval);
      ended[started.at(-1)!.name] = status;
    }
    const name = started[0]!.name;
    expect(started.map((each) => each.name)).toEqual([name, `${name}-1`, `${name}-2`]);
    expect(new Set(started.map(({ input }) => input)).size).toBe(1);
  });

  it.each(["RUNNING", "SUCCEEDED"])("is not replaced if it is %s", async (status) => {
    const { started, executions } = over({ "": status });
    await executions.startApproval(approval);
    expect(started).toEqual([]);
  });
});
