import { displayedStatus } from "../../../core/training/run-status";

it.each([
  ["queued", undefined, "queued"],
  ["running", "LaunchTraining", "running"],
  ["running", "AwaitApproval", "awaiting approval"],
  ["running", "Promote", "running"],
  ["completed", "AwaitApproval", "completed"],
  ["killed", "AwaitApproval", "killed"],
] as const)("a run that is %s in phase %s is shown as %s", (status, phase, shown) => {
  expect(displayedStatus({ status, phase })).toBe(shown);
});
