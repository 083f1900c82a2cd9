import { nodeContainers, parseRange, resolveContainer, withNodes } from "../../../local/batch/container";
import { nextByFairShare } from "../../../local/batch/fair-share";
import { place } from "../../../local/batch/placement";
import { retries } from "../../../local/batch/retry";
import type { ComputeEnvironment, Ending, RetryStrategy } from "../../../local/batch/types";

describe("retries", () => {
  type Rules = NonNullable<RetryStrategy["evaluateOnExit"]>;
  const reclaim: Ending = { statusReason: "Host EC2 (instance i-local-7) terminated." };
  const failed: Ending = { exitCode: 1, statusReason: "Essential container in task exited" };
  const pull: Ending = { reason: "CannotPullContainerError: x", statusReason: "Task failed to start" };
  const spot: Rules = [
    { onStatusReason: "Host EC2*", action: "RETRY" },
    { onReason: "*", action: "exit" },
  ];
  const decisive: Rules = [
    { onExitCode: "1", action: "RETRY" },
    { onReason: "*", action: "EXIT" },
  ];
  it.each<[string, Rules, Ending, boolean]>([
    ["a reclaim matches", spot, reclaim, true],
    ["the catch-all ends what fails by itself", spot, failed, false],
    ["none matches: tried again", [{ onExitCode: "2", action: "EXIT" }], failed, true],
    ["a code that begins alike", [{ onExitCode: "1*", action: "EXIT" }], { ...failed, exitCode: 137 }, false],
    ["a condition on a code that there is not", [{ onExitCode: "*", action: "EXIT" }], reclaim, true],
    ["all conditions must hold", [{ onExitCode: "1", onReason: "OOM*", action: "EXIT" }], failed, true],
    ["by reason", [{ onReason: "CannotPull*", action: "EXIT" }], pull, false],
    ["the first match decides", decisive, failed, true],
  ])("by rules: %s", (_, evaluateOnExit, ending, expected) => {
    expect(retries({ attempts: 3, evaluateOnExit }, 1, ending)).toBe(expected);
  });
  it.each<[string, RetryStrategy, number, boolean]>([
    ["one attempt is the default", {}, 1, false],
    ["attempts are left", { attempts: 3 }, 2, true],
    ["attempts are used up", { attempts: 3 }, 3, false],
  ])("%s", (_, strategy, made, expected) => {
    expect(retries(strategy, made, failed)).toBe(expected);
  });
});

describe("node ranges", () => {
  it.each([
    ["0:3", 8, 0, 3],
    ["4:", 8, 4, 7],
    [":2", 8, 0, 2],
    ["5", 8, 5, 5],
    ["0:", 1, 0, 0],
  ])("%s of %i nodes", (range, count, first, last) => {
    expect(parseRange(range, count)).toEqual({ first, last });
  });
  it.each(["", "a", "3:1", "1,2", "-1:2"])("refuses '%s'", (range) => {
    expect(() => parseRange(range, 8)).toThrow(/targetNodes/);
  });
  it("lets the narrower of two ranges win", () => {
    const range = (targetNodes: string, image: string) => ({ targetNodes, container: { image } });
    const properties = { numNodes: 4, mainNode: 0, nodeRangeProperties: [range("1:2", "inner"), range("0:", "outer")] };
    expect(nodeContainers(properties).map(({ image }) => image)).toEqual(["outer", "inner", "inner", "outer"]);
  });
  it("refuses nodes without a container and a main node out of range", () => {
    const nodeRangeProperties = [{ targetNodes: "0:1", container: { image: "i" } }];
    expect(() => nodeContainers({ numNodes: 3, mainNode: 0, nodeRangeProperties })).toThrow(/Node 2 of 3/);
    expect(() => nodeContainers({ numNodes: 2, mainNode: 2, nodeRangeProperties })).toThrow(/mainNode is 2/);
  });
  it("overrides the number of nodes only where a range is open", () => {
    const open = { numNodes: 2, mainNode: 0, nodeRangeProperties: [{ targetNodes: "0:" }] };
    expect(withNodes(open, 5).numNodes).toBe(5);
    expect(() => withNodes({ ...open, nodeRangeProperties: [{ targetNodes: "0:1" }] }, 5)).toThrow(/open at its end/);
  });
});

describe("resolveContainer", () => {
  it("applies overrides to the definition and fills in parameters", () => {
    const variables = (values: Readonly<Record<string, string>>) =>
      Object.entries(values).map(([name, value]) => ({ name, value }));
    const definition = {
      ...{ image: "trainer", command: ["train", "Ref::run", "Ref::none"], vcpus: 2, memory: 512 },
      environment: variables({ A: "1", B: "1" }),
    };
    const overrides = {
      environment: variables({ B: "2", C: "2" }),
      resourceRequirements: [{ type: "VCPU", value: "4" }] as const,
    };
    expect(resolveContainer(definition, overrides, { run: "r-1" })).toEqual({
      image: "trainer",
      command: ["train", "r-1", "Ref::none"],
      environment: variables({ A: "1", B: "2", C: "2" }),
      resourceRequirements: [
        { type: "VCPU", value: "4" },
        { type: "MEMORY", value: "512" },
      ],
    });
  });
});

describe("fair share", () => {
  const job = (id: string, shareIdentifier: string, schedulingPriority = 0) => ({
    id,
    shareIdentifier,
    schedulingPriority,
  });
  const weighted = { shareDistribution: [{ shareIdentifier: "a*", weightFactor: 0.5 }] };
  const urgent = [job("old", "a"), job("urgent", "a", 5), job("urgent too", "a", 5)];
  it.each<[string, Parameters<typeof nextByFairShare>[0], ReturnType<typeof job>[], Record<string, number>, string]>([
    ["serves the share that uses least", {}, [job("a1", "a"), job("b1", "b")], { a: 4, b: 2 }, "b1"],
    // At 4 of weight 0.5 and 3 of weight 1 it is a's turn.
    ["gives more to the lower weight", weighted, [job("b1", "b"), job("a1", "a1")], { a1: 4, b: 3 }, "a1"],
    ["orders a share by priority, then by age", {}, urgent, {}, "urgent"],
  ])("%s", (_what, policy, waiting, inUse, expected) => {
    expect(nextByFairShare(policy, waiting, new Map(Object.entries(inUse)))?.id).toBe(expected);
  });
});

describe("placement", () => {
  const environment = (
    name: string,
    type: string,
    maxvCpus: number,
    state: "ENABLED" | "DISABLED" = "ENABLED",
  ): ComputeEnvironment => ({
    computeEnvironmentName: name,
    computeEnvironmentArn: name,
    type: "MANAGED",
    state,
    computeResources: { type, maxvCpus },
  });
  const spot = environment("spot", "SPOT", 8);
  const steady = environment("steady", "EC2", 16);
  const use = (entries: Record<string, number> = {}, limit = 100) => ({
    inUse: new Map(Object.entries(entries)),
    limit,
  });

  const four = { vcpus: 4, multiNode: false };

  it("fills the environments in the queue's order", () => {
    for (const [vcpus, computeEnvironment] of [
      [4, spot],
      [5, steady],
    ] as const)
      expect(place(four, [spot, steady], use({ spot: vcpus }))).toMatchObject({ computeEnvironment });
    expect(place(four, [spot], use({ spot: 5 }))).toEqual({ kind: "wait", for: "queue" });
  });
  it("never places a gang on spot", () => {
    expect(place({ vcpus: 4, multiNode: true }, [spot, steady], use())).toMatchObject({ computeEnvironment: steady });
    expect(place({ vcpus: 4, multiNode: true }, [spot], use())).toMatchObject({
      kind: "never",
      statusReason: expect.stringContaining("Spot"),
    });
  });
  it("reports a job that is larger than any environment", () => {
    expect(place({ vcpus: 17, multiNode: false }, [spot, steady], use())).toMatchObject({
      statusReason: expect.stringContaining("MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT"),
    });
  });
  it("respects the machine's limit, lets a larger job run alone, and waits for a disabled environment", () => {
    expect(place(four, [steady], use({ other: 7 }, 10))).toEqual({ kind: "wait", for: "machine" });
    expect(place({ vcpus: 12, multiNode: false }, [steady], use({}, 10))).toMatchObject({ kind: "place" });
    expect(place(four, [environment("off", "EC2", 8, "DISABLED")], use())).toEqual({ kind: "wait", for: "queue" });
  });
});
