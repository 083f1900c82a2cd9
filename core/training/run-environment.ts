import type { MadeEnvironment } from "../runs/run";

/**
 * Returns the environment of a run: the reported one, and the deployment's present image. A run that follows another
 * one does not inherit its image.
 *
 * @param image a reference, as in the job definition. If it has a digest (`…@sha256:…`), the digest replaces a reported
 * one.
 */
export function runEnvironment(reported: MadeEnvironment = {}, image?: string): MadeEnvironment | undefined {
  const { image: _, ...environment } = reported;
  const imageDigest = image === undefined ? undefined : /@(sha256:[0-9a-f]{64})$/.exec(image)?.[1];
  const made = {
    ...environment,
    ...(image === undefined ? {} : { image }),
    ...(imageDigest === undefined ? {} : { imageDigest }),
  };
  return Object.keys(made).length > 0 ? made : undefined;
}
