import { nodeContainers, parseRange, resolveContainer, withNodes } from "../../../local/batch/container";
import { nextByFairShare } from "../../../local/batch/fair-share";
import { place } from "../../../local/batch/placement";
import { retries } from "../../../local/batch/retry";
import type { ComputeEnvironment, Ending, RetryStrategy } from "../../../local/batch/types";

describe("retries", () => {
  const reclaim: Ending = { statusReason: "Host EC2 (instance i-local-7) terminated." };
  const failed: Ending = { exitCode: 1, statusReason: "Essential container in task exited" };
  const pull: Ending = { reason: "CannotPullContainerError: x", statusReason: "Task failed to start" };
  const spot = [
    { onStatusReason: "Host EC2*", action: "RETRY" },
    { onReason: "*", action: "exit" },
  ];
  const cases: readonly [string, RetryStrategy, number, Ending, boolean][] = [
    ["one attempt is the default", {}, 1, failed, false],
    ["attempts are left", { attempts: 3 }, 2, failed, true],
    ["attempts are used up", { attempts: 3 }, 3, failed, false],
    ["a reclaim matches", { attempts: 3, evaluateOnExit: spot }, 1, reclaim, true],
    ["the catch-all ends what fails by itself", { attempts: 3, evaluateOnExit: spot }, 1, failed, false],
    [
      "none matches: tried again",
      { attempts: 3, evaluateOnExit: [{ onExitCode: "2", action: "EXIT" }] },
      1,
      failed,
      true,
    ],
    [
      "an exit code that begins alike",
      { attempts: 3, evaluateOnExit: [{ onExitCode: "1*", action: "EXIT" }] },
      1,
      { ...failed, exitCode: 137 },
      false,
    ],
    [
      "a condition on an exit code that there is not",
      { attempts: 3, evaluateOnExit: [{ onExitCode: "*", action: "EXIT" }] },
      1,
      reclaim,
      true,
    ],
    [
      "all conditions must hold",
      { attempts: 3, evaluateOnExit: [{ onExitCode: "1", onReason: "OOM*", action: "EXIT" }] },
      1,
      failed,
      true,
    ],
    ["by reason", { attempts: 3, evaluateOnExit: [{ onReason: "CannotPull*", action: "EXIT" }] }, 1, pull, false],
    [
      "the first match decides",
      {
        attempts: 3,
        evaluateOnExit: [
          { onExitCode: "1", action: "RETRY" },
          { onReason: "*", action: "EXIT" },
        ],
      },
      1,
      failed,
      true,
    ],
  ];
  it.each(cases)("%s", (_, strategy, made, ending, expected) => {
    expect(retries(strategy, made, ending)).toBe(expected);
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
    const definition = {
      image: "trainer",
      command: ["train", "Ref::run", "Ref::none"],
      vcpus: 2,
      memory: 512,
      environment: [
        { name: "A", value: "1" },
        { name: "B", value: "1" },
      ],
    };
    const overrides = {
      environment: [
        { name: "B", value: "2" },
        { name: "C", value: "2" },
      ],
      resourceRequirements: [{ type: "VCPU", value: "4" }] as const,
    };
    expect(resolveContainer(definition, overrides, { run: "r-1" })).toEqual({
      image: "trainer",
      command: ["train", "r-1", "Ref::none"],
      environment: [
        { name: "A", value: "1" },
        { name: "B", value: "2" },
        { name: "C", value: "2" },
      ],
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
  it("serves the share that uses least", () => {
    const waiting = [job("a1", "a"), job("b1", "b")];
    expect(
      nextByFairShare(
        {},
        waiting,
        new Map([
          ["a", 4],
          ["b", 2],
        ]),
      )?.id,
    ).toBe("b1");
  });
  it("gives more to the lower weight factor: at 4 of weight 0.5 and 3 of weight 1 it is a's turn", () => {
    const policy = { shareDistribution: [{ shareIdentifier: "a*", weightFactor: 0.5 }] };
    const waiting = [job("b1", "b"), job("a1", "a1")];
    expect(
      nextByFairShare(
        policy,
        waiting,
        new Map([
          ["a1", 4],
          ["b", 3],
        ]),
      )?.id,
    ).toBe("a1");
  });
  it("orders a share by priority, then by age", () => {
    const waiting = [job("old", "a"), job("urgent", "a", 5), job("urgent too", "a", 5)];
    expect(nextByFairShare({}, waiting, new Map())?.id).toBe("urgent");
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

  it("fills the environments in the queue's order", () => {
    expect(place({ vcpus: 4, multiNode: false }, [spot, steady], use({ spot: 4 }))).toMatchObject({
      computeEnvironment: spot,
    });
    expect(place({ vcpus: 4, multiNode: false }, [spot, steady], use({ spot: 5 }))).toMatchObject({
      computeEnvironment: steady,
    });
    expect(place({ vcpus: 4, multiNode: false }, [spot], use({ spot: 5 }))).toEqual({ kind: "wait", for: "queue" });
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
    expect(place({ vcpus: 4, multiNode: false }, [steady], use({ other: 7 }, 10))).toEqual({
      ...{ kind: "wait", for: "machine" },
    });
    expect(place({ vcpus: 12, multiNode: false }, [steady], use({}, 10))).toMatchObject({ kind: "place" });
    expect(place({ vcpus: 4, multiNode: false }, [environment("off", "EC2", 8, "DISABLED")], use())).toEqual({
      ...{ kind: "wait", for: "queue" },
    });
  });
});
