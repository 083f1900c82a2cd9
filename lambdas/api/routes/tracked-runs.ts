import type { Route } from "../route";

export const trackedRunRoutes: readonly Route[] = [];
