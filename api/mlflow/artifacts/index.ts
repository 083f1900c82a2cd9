import type { MlflowOperation } from "../operation";
import { modelArtifacts } from "./model-files";
import { multipartArtifacts } from "./multipart";
import { proxiedArtifacts } from "./proxied";
import { runArtifacts } from "./run-files";
import type { Delivery } from "./send-file";

/** Operations on files of runs, of logged models and of the team. */
export function artifactOperations(delivery: Delivery): readonly MlflowOperation[] {
  return [...proxiedArtifacts(delivery), ...multipartArtifacts, ...runArtifacts(delivery), ...modelArtifacts(delivery)];
}
