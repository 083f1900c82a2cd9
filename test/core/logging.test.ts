import { createLogger } from "../../core/logging";

function circular(): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  fields["self"] = fields;
  return fields;
}

describe("logs", () => {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger((line) => lines.push(JSON.parse(line)), { now: () => 0 }, { runId: "run-1" });
  beforeEach(() => lines.splice(0));

  it("are JSON, with the fields of what they are about", () => {
    logger.with({ requestId: "r" }).log("info", "hello", { step: 3 });
    expect(lines).toEqual([
      { time: "1970-01-01T00:00:00.000Z", level: "info", message: "hello", runId: "run-1", requestId: "r", step: 3 },
    ]);
  });

  it("never show a secret, however deep it lies", () => {
    logger.log("warn", "x", {
      taskToken: "abc",
      headers: { authorization: "AWS4 …" },
      nested: [{ password: "p" }, { runKey: "abc" }],
      environment: { RINGMASTER_RUN_KEY: "abc" },
    });
    expect(JSON.stringify(lines)).not.toMatch(/abc|AWS4|"p"/);
  });

  it.each([
    ["refer to themselves", circular()],
    ["JSON has no form for", { count: 1n }],
  ])("come out without fields that %s", (_name, fields) => {
    logger.log("error", "x", fields);
    expect(lines).toEqual([
      {
        time: "1970-01-01T00:00:00.000Z",
        level: "error",
        message: "x",
        fieldsLost: expect.stringContaining("TypeError"),
      },
    ]);
  });

  it("show an error with its cause", () => {
    logger.log("error", "x", { error: new Error("outer", { cause: new Error("inner") }) });
    expect(lines[0]).toMatchObject({ error: { message: "outer", cause: { message: "inner" } } });
  });
});
