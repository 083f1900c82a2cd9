import { RingmasterError } from "../errors";

/** A feature shard whose bytes are not what its manifest says. */
export class CorruptShardError extends RingmasterError {
  constructor(reason: string, cause?: unknown) {
    super(`the feature shard is damaged: ${reason}; run again with --no-cache to materialise it anew`, {
      code: "CORRUPT_FEATURE_SHARD",
      httpStatus: 500,
      cause,
    });
  }
}
