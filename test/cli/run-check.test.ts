import { runCheck } from "../../cli/run-check";

const node = (script: string) => [process.execPath, "-e", script];
const options = (more = {}) => {
  const shown: string[] = [];
  return {
    shown,
    options: {
      environment: { GREETING: "hello" },
      timeoutSeconds: 30,
      show: (chunk: Buffer) => void shown.push(String(chunk)),
      ...more,
    },
  };
};

describe("a check's command", () => {
  it("returns its exit code and output, and receives the candidate in its environment", async () => {
    const { shown, options: given } = options();
    const run = await runCheck(node("console.log(process.env.GREETING); process.exitCode = 7"), given);
    expect(run).toEqual({ exitCode: 7, output: "hello\n", timedOut: false });
    expect(shown.join("")).toBe("hello\n");
  });

  it("is remembered by the end of what it wrote", async () => {
    const { options: given } = options();
    const { output, exitCode } = await runCheck(node('console.error("x".repeat(10_000)); console.log("end")'), given);
    expect(exitCode).toBe(0);
    expect(output).toHaveLength(4_000);
    expect(output.includes("end")).toBe(true);
  });

  it("is ended after its time", async () => {
    const { options: given } = options({ timeoutSeconds: 0.2 });
    expect(await runCheck(node("setTimeout(() => {}, 60_000)"), given)).toMatchObject({
      timedOut: true,
      exitCode: 143,
    });
  });

  it("is bad input where there is no such program", async () => {
    const { options: given } = options();
    await expect(runCheck(["./no-such-program"], given)).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("ENOENT"),
    });
  });
});
