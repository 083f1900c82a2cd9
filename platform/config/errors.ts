import { RingmasterError } from "../../core/errors";

/** Thrown at start when the environment does not describe a platform. */
export class ConfigurationError extends RingmasterError {
  constructor(problems: readonly string[]) {
    super(`the configuration is not usable: ${problems.join("; ")}`, {
      code: "CONFIGURATION",
      httpStatus: 500,
      details: { problems },
    });
  }
}
