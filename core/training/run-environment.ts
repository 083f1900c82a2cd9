import type { MadeEnvironment } from "../runs/run";

/**
 * What a run is made in: what was told of it, and the image that the deployment has now. The image of the run that this one follows is not its own.
 *
 * @param image a reference, as the job definition has it. Its digest is known where the reference has one (`…@sha256:…`), and then whoever told another
 * was mistaken.
 */
export function madeEnvironment(told: MadeEnvironment = {}, image?: string): MadeEnvironment | undefined {
  const { image: _, ...environment } = told;
  const imageDigest = image === undefined ? undefined : /@(sha256:[0-9a-f]{64})$/.exec(image)?.[1];
  const made = {
    ...environment,
    ...(image === undefined ? {} : { image }),
    ...(imageDigest === undefined ? {} : { imageDigest }),
  };
  return Object.keys(made).length > 0 ? made : undefined;
}
