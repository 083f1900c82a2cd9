import type { MlflowOperation } from "../operation";
import { multipartArtifacts } from "./multipart";
import { modelArtifacts } from "./of-models";
import { runArtifacts } from "./of-runs";
import { proxiedArtifacts } from "./proxied";
import type { Delivery } from "./send-file";

/** Files of runs, of logged models and of nobody. */
export function artifactOperations(delivery: Delivery): readonly MlflowOperation[] {
  return [...proxiedArtifacts(delivery), ...multipartArtifacts, ...runArtifacts(delivery), ...modelArtifacts(delivery)];
}
