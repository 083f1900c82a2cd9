import type { Route } from "../route";

export const artifactRoutes: readonly Route[] = [];
