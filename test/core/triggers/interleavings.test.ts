import type { Cause } from "../../../core/triggers/cause";
import { type FireDependencies, fire } from "../../../core/triggers/fire";
import { setEnabled } from "../../../core/triggers/lifecycle";
import { sweep } from "../../../lambdas/fire-triggers/fire-triggers";
import { useEmbedded } from "../../support/embedded";
import { drawer, dyingPorts } from "../../support/kills";
import { rounds } from "../../support/rounds";
import { createScene, minute, type Scene } from "./scene";

const embedded = useEmbedded();

/** Dies before one of its calls of the stores or services, if it makes so many. */
function mortal(whole: FireDependencies, calls: number): FireDependencies {
  const dying = dyingPorts(calls);
  const { triggers, runs, datasets, executions } = whole;
  return {
    ...whole,
    triggers: dying(triggers),
    runs: dying(runs),
    datasets: dying(datasets),
    executions: dying(executions),
  };
}

const sweepOf = (scene: Scene) =>
  sweep({
    index: scene.deployment.triggerIndex,
    schedules: scene.dependencies.schedules,
    forTeam: (team) => ({ ...scene.deployment.forTeam(team), randomId: scene.dependencies.randomId }),
    onError: (_what, error) => {
      throw error;
    },
  });

const seeds = Array.from({ length: rounds(2, 40) }, (_, index) => index + 5);

/**
 * Versions are pushed and announced by any number of events at any time, in any order, by processes that die anywhere; some have no event. The
 * sweep comes now and then, and twice at the end.
 */
it.each(seeds)("each version makes one run, whatever happens on the way (seed %d)", async (seed) => {
  const scene = await createScene(embedded, `mix-${seed}`);
  await scene.trigger();
  const draw = drawer(seed);
  const causes: Cause[] = [];
  const events: Promise<unknown>[] = [];
  for (let turn = 0; turn < 14; turn += 1) {
    const what = draw(6);
    if (what === 0 || causes.length === 0) causes.push(await scene.push(101 + causes.length));
    else if (what === 1) await Promise.allSettled(events.splice(0));
    else if (what === 2) await sweepOf(scene);
    else {
      const cause = causes[draw(causes.length)]!;
      events.push(fire(mortal(scene.dependencies, draw(12)), "on-digits", cause).catch(() => undefined));
      if (what === 3) events.push(fire(scene.dependencies, "on-digits", cause));
    }
  }
  await Promise.allSettled(events);
  scene.clock.time += minute;
  await sweepOf(scene);
  await sweepOf(scene);
  const versions = (await scene.runs()).map(({ dataset }) => dataset.version).sort((a, b) => a - b);
  expect(versions).toEqual(causes.map((_cause, index) => index + 2));
  expect(new Set(scene.calls.started).size).toBe(versions.length);
});

it("a rule that is switched off and on in the midst of it never runs a version twice", async () => {
  const scene = await createScene(embedded, "switched");
  await scene.trigger();
  const cause = await scene.push(101);
  await Promise.all([
    ...[3, 5, 7, 9].map((calls) => fire(mortal(scene.dependencies, calls), "on-digits", cause).catch(() => undefined)),
    setEnabled(scene.dependencies, "on-digits", false, "ada", "a look at the labels"),
    fire(scene.dependencies, "on-digits", cause),
  ]);
  await sweepOf(scene);
  const record = await scene.platform.triggers.findCause("on-digits", "dataset:digits@2");
  expect(["submitted", "skipped"]).toContain(record?.state);
  expect(await scene.runs()).toHaveLength(record?.state === "submitted" ? 1 : 0);
});
