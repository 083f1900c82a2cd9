import { compileFeatures } from "../../../core/feature-store/features";
import { type ViewVersion, viewDefinition } from "../../../core/feature-store/shapes";

export function viewVersionOf(file: object): ViewVersion {
  const definition = viewDefinition.parse(file);
  const { features } = compileFeatures(definition);
  return {
    ...{ name: definition.name, version: 1, generation: 1, digest: "0".repeat(64), definition },
    ...{ features: [...features], createdBy: "test", createdAt: "2026-01-01T00:00:00.000Z" },
  };
}
