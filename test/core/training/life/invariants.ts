import { hostLossReason, noCapacityReason } from "../../../../core/runs/attempts";
import { isOpen } from "../../../../core/runs/run-states";
import type { Simulation } from "./simulation";

export function violationsNow(simulation: Simulation): readonly string[] {
  const { batch, run, rows, ends } = simulation;
  const found: string[] = [];
  const live = batch.live();
  if (live.length > 1) found.push(`two live jobs: ${live.map(({ jobId, name }) => `${jobId} (${name})`).join(", ")}`);

  if (!isOpen(run.status)) {
    const end = `${run.status} at ${run.endedAt}`;
    if (ends.length === 0) ends.push(end);
    else if (ends[0] !== end) found.push(`the run ended twice: ${ends[0]}, then ${end}`);
  }

  const { retries } = run.job;
  const attempts = [...rows.attempts.values()];
  if (attempts.length > (simulation.attemptsAtResult ?? Infinity))
    found.push("an attempt began although the result was there");
  const failed = attempts.filter(({ status }) => status === "failed");
  const own = failed.filter(({ reason }) => isOwn(reason)).length;
  if (isOpen(run.status) && own > retries + 1) found.push(`${own} failures of the job's own with ${retries} retries`);
  for (const { attempt, market } of attempts) {
    const before = attempts.filter((one) => one.attempt < attempt);
    const lostBefore = before.filter(({ reason }) => reason === hostLossReason).length;
    const usedBefore = before.filter(({ reason }) => isOwn(reason)).length;
    if (market === "spot" && lostBefore >= 3) found.push(`attempt ${attempt} is on spot after ${lostBefore} losses`);
    const first = before.length === 0; // a job without retries, and the first attempt of any, runs where its file says
    if (market === "spot" && !first && usedBefore > 0 && usedBefore >= retries)
      found.push(`attempt ${attempt} is the last, and on spot`);
  }
  return found;
}

export function violationsAtRest(simulation: Simulation): readonly string[] {
  const { batch, run, rows, world, execution, resultInTime, cancelled } = simulation;
  const { retries } = run.job;
  const found: string[] = [];
  for (const { jobId, status } of batch.live()) found.push(`${jobId} is ${status} after the run's end`);
  if (execution?.status === "running") found.push("the execution runs on");

  const attempts = [...rows.attempts.values()];
  for (const { attempt, status } of attempts)
    if (status === "submitting" || status === "submitted") found.push(`attempt ${attempt} is still ${status}`);

  if (run.status === "killed" && !cancelled) found.push("nobody cancelled it");
  // A state is tried seven times; if its function is killed as often, the run has ended.
  const worn = simulation.deadInvocations >= 7;
  if (resultInTime && run.status === "failed" && !worn)
    found.push(`its result was there, but it failed: ${run.failure?.message}`);
  if (run.status === "completed" && !resultInTime) found.push("it completed without a result");

  if (run.status === "failed") {
    const own = attempts.filter(({ reason }) => isOwn(reason)).length;
    const { code } = run.failure!;
    const earned: Readonly<Record<string, boolean>> = {
      USER_CODE: true,
      "Sandbox.Timedout": worn,
      JOB_REFUSED: simulation.scenario.refusedFrom !== undefined,
      TRAINER_ERROR: own > retries,
      TRAINER_EXITED: own > retries,
      HOSTS_LOST:
        attempts.filter(({ market, reason }) => market === "on-demand" && reason === hostLossReason).length >= 3,
    };
    if (!earned[code]) found.push(`it failed by ${code} after ${own} attempts of its own, with ${retries} retries`);
  }

  const counted = (name: "WorkerHours" | "RunsCompleted" | "RunsFailed" | "RunsKilled") =>
    world.measured.filter((measures) => measures[name] !== undefined).length;
  const ends = counted("RunsCompleted") + counted("RunsFailed") + counted("RunsKilled");
  if (ends > 1) found.push(`its end was counted ${ends} times`);
  const published = new Set(world.ends.map(({ id, type, at, failure }) => JSON.stringify([id, type, at, failure])));
  if (published.size !== 1) found.push(`${published.size} different ends were published`);
  if (world.ends[0]?.type !== `run.${run.status}`) found.push(`it is ${run.status}, published: ${world.ends[0]?.type}`);
  if (counted("WorkerHours") > attempts.length) found.push("an attempt's hours were counted twice");
  return found;
}

/** Tests whether an attempt's end uses one of the user's retries. */
function isOwn(reason: string | undefined): boolean {
  return reason !== hostLossReason && reason !== noCapacityReason;
}
