import { type Harness, jsonata, open } from "./support/harness";

const roleArn = "arn:aws:iam::000000000000:role/states";
const waits = jsonata({ W: { Type: "Wait", Seconds: 60, End: true } });
const passes = jsonata({ P: { Type: "Pass", End: true } });
const arnOf = (name: string) => `arn:aws:states:us-east-1:000000000000:stateMachine:${name}`;

let states: Harness;
beforeEach(async () => {
  states = await open();
});
afterEach(() => states.close());

const create = (name: string, definition: object = waits, more: object = {}) =>
  states.client.createStateMachine({ name, roleArn, definition: JSON.stringify(definition), ...more });
const begin = (machine: string, more: object = {}) =>
  states.client.startExecution({ stateMachineArn: arnOf(machine), ...more });

describe("state machines", () => {
  it("are created and described", async () => {
    const made = await create("m");
    expect(made.stateMachineArn).toBe(arnOf("m"));
    expect(made.creationDate).toEqual(new Date(states.clock.now()));
    expect(await states.client.describeStateMachine({ stateMachineArn: arnOf("m") })).toMatchObject({
      name: "m",
      status: "ACTIVE",
      type: "STANDARD",
      roleArn,
      definition: JSON.stringify(waits),
      loggingConfiguration: { level: "OFF", includeExecutionData: false },
    });
  });

  it("are created idempotently; another definition is a conflict", async () => {
    const first = await create("m");
    await states.advance(1000);
    expect((await create("m")).creationDate).toEqual(first.creationDate);
    expect((await create("m", waits, { roleArn: "arn:aws:iam::000000000000:role/other" })).creationDate).toEqual(
      first.creationDate,
    );
    await expect(create("m", passes)).rejects.toMatchObject({ name: "StateMachineAlreadyExists" });
  });

  it.each([
    ["a name with a space", "a b", {}, "InvalidName"],
    ["a name with a slash", "a/b", {}, "InvalidName"],
    ["a name of 81 characters", "a".repeat(81), {}, "InvalidName"],
    ["no definition", "m", { definition: undefined }, "ValidationException"],
    ["a broken definition", "m", { definition: "{" }, "InvalidDefinition"],
    ["an express machine", "m", { type: "EXPRESS" }, "StateMachineTypeNotSupported"],
    ["a version", "m", { publish: true }, "ValidationException"],
    ["tags", "m", { tags: [{ key: "a", value: "1" }] }, "ValidationException"],
  ])("refuse %s", async (_title, name, more, error) => {
    await expect(create(name, waits, more)).rejects.toMatchObject({ name: error, $metadata: { httpStatusCode: 400 } });
  });

  it("are updated; running executions keep their definition", async () => {
    await create("m");
    const { executionArn } = await begin("m", { name: "e" });
    const update = (more: object) => states.client.updateStateMachine({ stateMachineArn: arnOf("m"), ...more });
    const { revisionId } = await update({ definition: JSON.stringify(passes) });
    expect(await states.client.describeStateMachine({ stateMachineArn: arnOf("m") })).toMatchObject({
      definition: JSON.stringify(passes),
      revisionId,
    });
    expect(await states.describe(executionArn!)).toMatchObject({ status: "RUNNING" });
    await expect(update({})).rejects.toMatchObject({ name: "MissingRequiredParameter" });
    await expect(update({ definition: "{}" })).rejects.toMatchObject({ name: "InvalidDefinition" });
  });

  it("are listed in pages", async () => {
    for (const name of ["c", "a", "b"]) await create(name);
    const first = await states.client.listStateMachines({ maxResults: 2 });
    expect(first.stateMachines?.map(({ name }) => name)).toEqual(["a", "b"]);
    const second = await states.client.listStateMachines({ nextToken: first.nextToken });
    expect(second.stateMachines?.map(({ name }) => name)).toEqual(["c"]);
    expect(second.nextToken).toBeUndefined();
    const foreign = states.client.listStateMachines({ nextToken: "bm9uZQ" });
    await expect(foreign).rejects.toMatchObject({ name: "InvalidToken" });
  });
});

describe("executions", () => {
  it("start once per name: the same input while running is idempotent, anything else is a conflict", async () => {
    await create("m");
    const first = await begin("m", { name: "e", input: '{"a":1}' });
    expect(await begin("m", { name: "e", input: '{"a":1}' })).toMatchObject({
      executionArn: first.executionArn,
      startDate: first.startDate,
    });
    await expect(begin("m", { name: "e", input: '{"a":2}' })).rejects.toMatchObject({ name: "ExecutionAlreadyExists" });
    await states.advance(60_000);
    await expect(begin("m", { name: "e", input: '{"a":1}' })).rejects.toMatchObject({ name: "ExecutionAlreadyExists" });
  });

  it("start once even with many concurrent requests", async () => {
    await create("m");
    await Promise.all(Array.from({ length: 20 }, () => begin("m", { name: "e" })));
    const { executions } = await states.client.listExecutions({ stateMachineArn: arnOf("m") });
    expect(executions).toHaveLength(1);
    expect(states.events).toHaveLength(1);
  });

  it.each([
    ["no such machine", arnOf("none"), {}, "StateMachineDoesNotExist"],
    ["no ARN", "none", {}, "InvalidArn"],
    ["another resource's ARN", "arn:aws:lambda:us-east-1:000000000000:function:f", {}, "InvalidArn"],
    ["an input that is no JSON", arnOf("m"), { input: "{'a'}" }, "InvalidExecutionInput"],
    ["an input past 256 KiB", arnOf("m"), { input: JSON.stringify("x".repeat(262_144)) }, "ValidationException"],
    ["a bad name", arnOf("m"), { name: "a b" }, "InvalidName"],
  ])("refuse %s", async (_title, stateMachineArn, more, error) => {
    await create("m");
    const started = states.client.startExecution({ stateMachineArn, ...more });
    await expect(started).rejects.toMatchObject({ name: error });
  });

  it("are described while they run and after", async () => {
    const arn = await states.start(waits, { a: 1 }, "e");
    expect(await states.describe(arn)).toMatchObject({
      status: "RUNNING",
      name: "e",
      input: '{"a":1}',
      redriveCount: 0,
    });
    await states.advance(60_000);
    expect(await states.describe(arn)).toMatchObject({
      status: "SUCCEEDED",
      output: '{"a":1}',
      startDate: new Date(states.clock.now() - 60_000),
      stopDate: new Date(states.clock.now()),
    });
    await expect(states.describe(`${arn}x`)).rejects.toMatchObject({ name: "ExecutionDoesNotExist" });
  });

  it("are stopped, once", async () => {
    const arn = await states.start(waits);
    await states.settle();
    const stop = () => states.client.stopExecution({ executionArn: arn, error: "E", cause: "why" });
    const { stopDate } = await stop();
    expect(await states.describe(arn)).toMatchObject({ status: "ABORTED", error: "E", cause: "why", stopDate });
    await states.advance(1000);
    expect(await stop()).toMatchObject({ stopDate });
    expect((await states.history(arn)).map(({ type }) => type)).toEqual([
      "ExecutionStarted",
      "WaitStateEntered",
      "ExecutionAborted",
    ]);
  });

  it("are listed newest first, by status and in pages", async () => {
    await create("m");
    for (const name of ["e1", "e2", "e3"]) {
      await begin("m", { name });
      await states.advance(1000);
    }
    await states.client.stopExecution({ executionArn: `${arnOf("m").replace(":stateMachine:", ":execution:")}:e2` });
    const list = async (more: object) => {
      const page = await states.client.listExecutions({ stateMachineArn: arnOf("m"), ...more });
      return { names: page.executions?.map(({ name }) => name), nextToken: page.nextToken };
    };
    expect(await list({})).toEqual({ names: ["e3", "e2", "e1"] });
    expect(await list({ statusFilter: "RUNNING" })).toEqual({ names: ["e3", "e1"] });
    expect(await list({ statusFilter: "ABORTED" })).toEqual({ names: ["e2"] });
    const first = await list({ maxResults: 2 });
    expect(first.names).toEqual(["e3", "e2"]);
    expect(await list({ maxResults: 2, nextToken: first.nextToken })).toEqual({ names: ["e1"] });
    await expect(list({ statusFilter: "running" })).rejects.toMatchObject({ name: "ValidationException" });
  });

  it("return their history in pages, forwards, backwards, and without data", async () => {
    const arn = await states.start(passes, { a: 1 });
    await states.settle();
    const page = (more: object) => states.client.getExecutionHistory({ executionArn: arn, ...more });
    const first = await page({ maxResults: 3 });
    expect(first.events?.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect((await page({ nextToken: first.nextToken })).events?.map(({ id }) => id)).toEqual([4]);
    const last = await page({ maxResults: 3, reverseOrder: true });
    expect(last.events?.map(({ id }) => id)).toEqual([4, 3, 2]);
    const rest = await page({ reverseOrder: true, nextToken: last.nextToken });
    expect(rest.events?.map(({ type }) => type)).toEqual(["ExecutionStarted"]);
    const { events } = await page({ includeExecutionData: false });
    expect(events?.[1]?.stateEnteredEventDetails).toEqual({ name: "P" });
  });
});

it("answers an unimplemented operation with a separate error", async () => {
  await expect(states.client.listActivities({})).rejects.toMatchObject({
    name: "UnknownOperationException",
    $metadata: { httpStatusCode: 400 },
  });
  const raw = await fetch(states.endpoint, {
    method: "POST",
    headers: { "x-amz-target": "AWSStepFunctions.ListStateMachines" },
    body: "not json",
  });
  expect(raw.status).toBe(400);
  expect(await raw.json()).toMatchObject({ __type: "com.amazonaws.states#SerializationException" });
});
