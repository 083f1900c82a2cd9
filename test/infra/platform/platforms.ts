import type { RingmasterConfig } from "../../../infra/config";
import { configurations } from "../configurations";
import { type Synthesized, synthesizePlatform, withoutAssets } from "../synthesized";

/** The configuration with everything, with names of the maximum length, and teams up to the maximum of their settings. */
const settings = configurations["with everything"]!;
const everythingWithMaxNames: RingmasterConfig = {
  ...settings,
  prefix: "p".repeat(24),
  teams: [...settings.teams!, ...Array.from({ length: 12 }, (_, i) => ({ name: `t${i}`.padEnd(32, "t") }))],
};

/** The platforms that the tests of `test/infra/platform.test.ts` share. */
export const defaults = once(() => synthesizePlatform());
export const everything = once(() => synthesizePlatform(withoutAssets, everythingWithMaxNames));

function once(synthesize: () => Synthesized): () => Synthesized {
  let platform: Synthesized | undefined;
  afterAll(() => platform?.remove());
  return () => {
    platform ??= synthesize();
    return platform;
  };
}

/** Returns the resources of a type in all stacks, with their ids. */
export const everywhere = (platform: Synthesized, type: string) =>
  stacksOf(platform).flatMap((stack) => Object.entries(platform.template(stack).findResources(type)));

export const stacksOf = (platform: Synthesized) => Object.keys(platform.stacks) as (keyof Synthesized["stacks"])[];
