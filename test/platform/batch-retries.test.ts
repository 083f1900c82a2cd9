import { retries } from "../../local/batch/retry";
import type { Ending } from "../../local/batch/types";
import { trainerJob } from "../../platform/trainer-job";

const inTask = "Essential container in task exited";
const notStarted = "Task failed to start";

/** Ends of an attempt as Batch reports them, and whether the rules start it again. */
const endings: readonly (readonly [what: string, ending: Ending, again: boolean, why: string])[] = [
  ["a reclaimed host", { statusReason: "Host EC2 (instance i-1) terminated." }, true, "another host can train"],
  [
    "a reclaimed host whose container failed first",
    { exitCode: 1, statusReason: "Host EC2 (instance i-1) terminated." },
    true,
    "the host's end explains the exit code",
  ],
  ["a request to be restarted", { exitCode: 75, statusReason: inTask }, true, "the gang was lost, the host goes away"],
  ["SIGKILL from outside", { exitCode: 137, statusReason: inTask }, true, "the host or its agent ended it"],
  ["SIGTERM", { exitCode: 143, statusReason: inTask }, true, "the host is being stopped"],
  [
    "the container's memory limit",
    { exitCode: 137, reason: "OutOfMemoryError: Container killed due to memory usage", statusReason: inTask },
    false,
    "it would happen again",
  ],
  ["a recorded failure", { exitCode: 1, statusReason: inTask }, false, "the run's own retries decide"],
  ["an abort, as at V8's heap limit", { exitCode: 134, statusReason: inTask }, false, "it would happen again"],
  ["a command that is not found", { exitCode: 127, statusReason: inTask }, false, "the image lacks it"],
  ["a command that cannot be executed", { exitCode: 126, statusReason: inTask }, false, "the image is wrong"],
  ["an error of Node.js at its start", { exitCode: 13, statusReason: inTask }, false, "it would happen again"],
  ["an illegal instruction", { exitCode: 132, statusReason: inTask }, false, "the library is for another processor"],
  ["a segmentation fault", { exitCode: 139, statusReason: inTask }, false, "a defect of a native library"],
  [
    "an image that cannot be pulled",
    { reason: "CannotPullContainerError: pull image manifest: 503", statusReason: notStarted },
    true,
    "the registry or the network recovers",
  ],
  [
    "a container that cannot be created in time",
    {
      reason: "DockerTimeoutError: Could not transition to created; timed out after waiting 4m0s",
      statusReason: notStarted,
    },
    true,
    "the host's disk was busy",
  ],
  [
    "a container that cannot be created",
    { reason: "CannotCreateContainerError: no space left on device", statusReason: notStarted },
    true,
    "another host has space",
  ],
  ["a task that did not start", { statusReason: notStarted }, true, "the agent or the host failed"],
  ["a container whose end the agent did not see", { exitCode: 255, statusReason: inTask }, true, "the agent failed"],
  ["a host without its agent", { statusReason: "ECS Agent disconnected" }, true, "the host failed"],
];

describe("the trainer's job under Batch's retry rules", () => {
  it.each(endings)("after %s", (_what, ending, again) => {
    expect(retries({ attempts: trainerJob.attempts, evaluateOnExit: trainerJob.evaluateOnExit }, 1, ending)).toBe(
      again,
    );
  });

  it("ends after Batch's maximum of ten attempts, whatever the reason", () => {
    for (const [, ending] of endings) {
      expect(retries({ attempts: trainerJob.attempts, evaluateOnExit: trainerJob.evaluateOnExit }, 10, ending)).toBe(
        false,
      );
    }
  });
});
